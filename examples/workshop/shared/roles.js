// Three levels, each including the one before it. A visitor sees the catalogue;
// a member sees their own records; staff run the desk.

const LEVELS = { visitor: 0, member: 1, staff: 2 };

/** The role of a member record, or `visitor` without one. */
export function roleOf(member) {
  return member?.role ?? 'visitor';
}

/** True when `member` (or null) may do what `needed` may do. */
export function mayAct(member, needed) {
  return LEVELS[roleOf(member)] >= LEVELS[needed];
}

/** True when `member` may read records that belong to `memberId`. */
export function maySee(member, memberId) {
  return mayAct(member, 'staff') || member?.id === memberId;
}
