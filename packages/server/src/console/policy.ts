/** What a browser may do with the console. */

/** Of the page. Its links lead to other sites, which must not see an invitation's token in its address. */
export const PAGE_POLICY = {
  'cache-control': 'no-store',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
};

/** Of an asset, whose name changes with its bytes. The policy binds workers, which do not have the page's. */
export const ASSET_POLICY = {
  'cache-control': 'public, max-age=31536000, immutable',
  'content-security-policy': "default-src 'none'; script-src 'self'; connect-src 'self'",
  'cross-origin-resource-policy': 'same-origin',
};

/**
 * Styles that libraries write need the nonce. Scripts are files, so an injected one is refused even if it
 * knows the nonce.
 */
export function pagePolicy(nonce: string, previews: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "connect-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "worker-src 'self'",
    `frame-src ${previews}`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
