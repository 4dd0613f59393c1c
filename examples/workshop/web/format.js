/** Formats days, amounts and numbers for a language. Days have no time zone, so UTC it is. */
export function createFormat(language) {
  const day = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', timeZone: 'UTC' });
  const longDay = new Intl.DateTimeFormat(language, { weekday: 'long', day: 'numeric', month: 'long', timeZone: 'UTC' });
  const money = new Intl.NumberFormat(language, { style: 'currency', currency: 'EUR' });
  const asDate = (text) => new Date(`${text}T00:00:00Z`);
  return {
    day: (text) => day.format(asDate(text)),
    longDay: (text) => longDay.format(asDate(text)),
    money: (cents) => money.format(cents / 100),
  };
}
