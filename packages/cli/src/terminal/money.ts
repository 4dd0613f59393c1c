/** `$0.0123`, `$1.25`; amounts of less than a cent have four digits. */
export function money(micros: number): string {
  const dollars = micros / 1_000_000;
  return `$${dollars !== 0 && dollars < 1 ? dollars.toFixed(4) : dollars.toFixed(2)}`;
}
