/**
 * What the server of the part does with rights that are missing, wrong checksums and puts that were cut: a bucket policy
 * gives another user less than the service needs.
 */
import { createHash } from 'node:crypto';
import { S3_LIMITS } from '../../../packages/server/src/storage/s3-attempts.ts';
import { createS3Store } from '../../../packages/server/src/storage/s3-store.ts';
import type { ObjectStore } from '../../../packages/server/src/storage/object-store.ts';
import type { S3User } from './s3-rgw.ts';

export const REGION = 'us-east-1';

export interface Place {
  endpoint: string;
  bucket: string;
}

export const storeOf = ({ endpoint, bucket }: Place, user: S3User): Promise<ObjectStore> =>
  createS3Store(
    { bucket, region: REGION, endpoint, credentials: user, forcePathStyle: true },
    { ...S3_LIMITS, pauseMs: 10 },
  );

/** The service's variables. */
export const settingsOf = ({ endpoint, bucket }: Place, user: S3User): Record<string, string> => ({
  HEADRACE_S3_BUCKET: bucket,
  HEADRACE_S3_ENDPOINT: endpoint,
  HEADRACE_S3_REGION: REGION,
  AWS_ACCESS_KEY_ID: user.accessKeyId,
  AWS_SECRET_ACCESS_KEY: user.secretAccessKey,
});

async function clientOf({ endpoint }: Place, user: S3User) {
  const sdk = await import('@aws-sdk/client-s3');
  const client = new sdk.S3Client({
    endpoint,
    region: REGION,
    credentials: user,
    forcePathStyle: true,
    maxAttempts: 1,
    requestChecksumCalculation: 'WHEN_REQUIRED',
  });
  return { sdk, client };
}

export async function makeBucket(place: Place, user: S3User): Promise<void> {
  const { sdk, client } = await clientOf(place, user);
  await client.send(new sdk.CreateBucketCommand({ Bucket: place.bucket }));
  client.destroy();
}

const ALL = ['s3:PutObject', 's3:ListBucket', 's3:GetObject', 's3:DeleteObject'];
const ROWS: [string, string[]][] = [
  ['may do all', []],
  ['only reads', ['s3:PutObject', 's3:DeleteObject']],
  ['deletes nothing', ['s3:DeleteObject']],
  ['lists nothing', ['s3:ListBucket']],
  ['reads nothing', ['s3:GetObject']],
];

/** Returns what is wrong. */
export async function tryRights(place: Place, owner: S3User, guest: S3User): Promise<string[]> {
  const { sdk, client } = await clientOf(place, owner);
  const failures: string[] = [];
  for (const [name, denied] of ROWS) {
    const { bucket } = place;
    const statement = (effect: string, actions: string[]) => ({
      Effect: effect,
      Principal: { AWS: ['arn:aws:iam:::user/guest'] },
      Action: actions,
      Resource: [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`],
    });
    const policy = {
      Version: '2012-10-17',
      // Who has put an object owns it, and may read it unless that is denied.
      Statement: [statement('Allow', ALL), ...(denied.length ? [statement('Deny', denied)] : [])],
    };
    await client.send(new sdk.PutBucketPolicyCommand({ Bucket: bucket, Policy: JSON.stringify(policy) }));
    const store = await storeOf(place, guest);
    const found = await store.probe().then(
      () => null,
      (error: unknown) => (error as Error).message,
    );
    store.close();
    const wanted = denied.length ? `The bucket refuses requests: grant ${denied.join(' and ')}.` : null;
    if (found !== wanted) failures.push(`a user that ${name}: the probe says ${found}, not ${wanted}`);
  }
  await client.send(new sdk.DeleteBucketPolicyCommand({ Bucket: place.bucket }));
  client.destroy();
  for (const [name, user, wanted] of [
    ['an unknown key', { ...owner, accessKeyId: 'NOBODY' }, /does not know the access key/],
    ['a wrong secret', { ...owner, secretAccessKey: 'wrong' }, /secret of the access key is wrong/],
  ] as const) {
    const store = await storeOf(place, user);
    const found = await store.probe().then(
      () => 'that all is well',
      (error: unknown) => (error as Error).message,
    );
    store.close();
    if (!wanted.test(found)) failures.push(`${name}: the probe says ${found}`);
  }
  return failures;
}

/** The server has to refuse bytes that are not those of the Content-MD5. */
export async function tryWrongMd5(place: Place, owner: S3User): Promise<string[]> {
  const { sdk, client } = await clientOf(place, owner);
  const failures: string[] = [];
  const refusal = await client
    .send(
      new sdk.PutObjectCommand({
        Bucket: place.bucket,
        Key: 'wrong-md5',
        Body: Buffer.from('these bytes'),
        ContentMD5: createHash('md5').update('others').digest('base64'),
      }),
    )
    .then(
      () => null,
      (error: unknown) => (error as { $metadata: { httpStatusCode: number } }).$metadata.httpStatusCode,
    );
  client.destroy();
  const store = await storeOf(place, owner);
  if (refusal !== 400 || (await store.head('wrong-md5')) !== null)
    failures.push(`a put with a wrong Content-MD5 got ${refusal}, and is stored or not`);
  store.close();
  return failures;
}
