import fc from 'fast-check'
import { decimals } from './kline-arbitraries.js'

/** `text` as an integer times a power of ten. */
function scaled(text: string): { digits: bigint; exponent: number } {
  const [, whole, fraction = '', power = '0'] = /^(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(text) ?? []
  return { digits: BigInt(whole + fraction), exponent: Number(power) - fraction.length }
}

/** Whether two texts are the same number, with BigInt arithmetic. */
export function sameNumber(text: string, other: string): boolean {
  const [a, b] = [scaled(text), scaled(other)]
  const low = Math.min(a.exponent, b.exponent)
  return a.digits * 10n ** BigInt(a.exponent - low) === b.digits * 10n ** BigInt(b.exponent - low)
}

/** `text` times 10^8 when that is an integer of at most 38 digits, else undefined. */
export function scaledTo8(text: string): bigint | undefined {
  const { digits, exponent } = scaled(text)
  const places = 10n ** BigInt(Math.abs(exponent + 8))
  const value = exponent >= -8 ? digits * places : digits / places
  const isExact = exponent >= -8 || digits % places === 0n
  return isExact && value < 10n ** 38n ? value : undefined
}

/** Decimals of every length, with needless zeros in front and behind. */
export const decimalTexts = fc.oneof(
  decimals(30, 8),
  decimals(34, 12),
  fc
    .tuple(fc.nat(12), decimals(30, 8), fc.nat(12))
    .map(([front, text, behind]) => '0'.repeat(front) + text + (text.includes('.') ? '0'.repeat(behind) : '')),
)
