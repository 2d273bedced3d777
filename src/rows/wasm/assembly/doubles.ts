import { fraction, UNIT, whole } from './decimals'

/** Below this, doubles lie closer together than units of 10^-8, and all units fit into 53 bits. */
const DENSE_WHOLE: u64 = 1 << 26

/** Whether the shortest text of a double is the decimal that it was made of. */
export const SAME: u32 = 0
export const OTHER: u32 = 1
/** Too close to tell. */
export const UNDECIDED: u32 = 2

/** Of the double that `toDouble` returned last. */
export let text: u32 = SAME

/** The double that is nearest to the decimal that was scanned last. Sets `text`. */
export function toDouble(): f64 {
  text = SAME
  // One division of exact numbers is rounded correctly.
  if (whole < DENSE_WHOLE) return <f64>(whole * UNIT + fraction) / <f64>UNIT
  if (fraction === 0) return <f64>whole
  // A mantissa of 53 bits, and a rest in units of 10^-8 of its last bit.
  const shift = clz(whole) - 11
  const scaled = fraction << shift
  let mantissa = (whole << shift) + scaled / UNIT
  const rest = scaled % UNIT
  const isUp = 2 * rest > UNIT || (2 * rest === UNIT && (mantissa & 1) === 1)
  if (isUp) mantissa++
  text = compareTexts(isUp ? UNIT - rest : rest, isUp, shift)
  return <f64>mantissa / <f64>((<u64>1) << shift)
}

/**
 * Compares the decimal with the shortest text of its double, which lies `error` above or below it. That text is the decimal with
 * the fewest digits among those nearer to this double than to another one: within UNIT / 2, or less below a power of two. All lengths
 * are in units of 10^-8 of the mantissa's last bit.
 */
function compareTexts(error: u64, isAbove: bool, shift: u64): u32 {
  // The last digit that is not zero, and the distance of decimals with as many digits.
  let digits = fraction
  let step = (<u64>1) << shift
  for (; digits % 10 === 0; digits /= 10) step *= 10
  if (step > UNIT) return SAME
  if (2 * error >= step) return 2 * error > step ? OTHER : UNDECIDED
  // The nearest decimals with fewer digits.
  const last = digits % 10
  const below = isAbove ? last * step + error : last * step - error
  const above = isAbove ? (10 - last) * step - error : (10 - last) * step + error
  const nearest = 2 * min(below, above)
  if (nearest === UNIT) return UNDECIDED
  return nearest < UNIT ? OTHER : SAME
}
