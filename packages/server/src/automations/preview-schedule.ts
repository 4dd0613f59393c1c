import Type from 'typebox';
import { invalid } from '../http/errors.ts';
import { Moment, momentOf } from '../http/moment.ts';
import { read } from '../http/operation.ts';
import { Body, Ok, Time } from '../http/schemas.ts';
import { cronFaults, nextTimes, readCron } from './cron.ts';
import { CronExpression, TimeZone } from './schemas.ts';

const DEFAULT_COUNT = 10;

export const previewSchedule = read({
  name: 'automations.previewSchedule',
  summary: 'Show the next times of a schedule',
  description:
    'The times at which an automation would run, without the minimum interval. An expression without a time in the next five years gets 400.',
  access: { permissions: ['automation:read'] },
  capability: 'automations',
  query: Body({
    cron: CronExpression,
    timeZone: TimeZone,
    from: Type.Optional(Moment('Times after this one. Default: now.')),
    count: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: DEFAULT_COUNT })),
  }),
  responses: { 200: Ok({ times: Type.Array(Time) }) },
  async handle({ query }) {
    const { count = DEFAULT_COUNT, ...schedule } = query;
    const from = new Date(momentOf(query.from, Date.now(), '/query/from'));
    const faults = cronFaults('/query', schedule, { from });
    if (faults.length) throw invalid(...faults);
    const times = nextTimes(readCron(schedule), from, count);
    return { status: 200, body: { ok: true, times: times.map((time) => time.toISOString()) } };
  },
});
