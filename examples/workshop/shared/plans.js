// What a membership allows. Limits are per person, not per household.

export const PLANS = {
  basic: { maxLoans: 3, maxReservations: 1, yearlyCents: 2400 },
  plus: { maxLoans: 6, maxReservations: 3, yearlyCents: 4800 },
  maker: { maxLoans: 10, maxReservations: 5, yearlyCents: 9000 },
};

export const PLAN_NAMES = Object.keys(PLANS);

/** The limits of a member's plan; an unknown plan gets the smallest limits. */
export function limitsOf(member) {
  return PLANS[member.plan] ?? PLANS.basic;
}
