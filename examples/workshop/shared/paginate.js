export const DEFAULT_PAGE_SIZE = 12;
export const MAX_PAGE_SIZE = 100;

/**
 * One page of a list. Pages count from 1; a page past the end is empty rather than an
 * error, because a list can shrink between two clicks.
 * @returns {{items: unknown[], page: number, pageSize: number, pageCount: number, total: number}}
 */
export function paginate(list, page = 1, pageSize = DEFAULT_PAGE_SIZE) {
  const size = Math.min(Math.max(1, pageSize), MAX_PAGE_SIZE);
  const start = (page - 1) * size;
  return {
    items: list.slice(start, start + size),
    page,
    pageSize: size,
    pageCount: Math.max(1, Math.ceil(list.length / size)),
    total: list.length,
  };
}
