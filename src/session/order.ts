/** The order of code points, which is the order of UTF-8 bytes too, as databases sort by; JavaScript's own is that of UTF-16 units. */
export function byCodePoint(a: string, b: string): number {
  const [some, others] = [[...a], [...b]];
  for (const [i, one] of some.entries()) {
    const other = others[i];
    if (other === undefined) return 1;
    if (one !== other) return (one.codePointAt(0) ?? 0) - (other.codePointAt(0) ?? 0);
  }
  return some.length - others.length;
}
