// The layout of rows in the memory that TypeScript and WebAssembly share. Both compilers read this file: only numbers here.

/** Numbers per row of an index: start and end of each of the 12 cells. */
export const OFFSETS_PER_ROW = 24
/** Numbers per row of an index: open time, close time (ms UTC) and count. */
export const NUMBERS_PER_ROW = 3
/** The same in bytes: 32 bits for each offset, a double for each number. */
export const OFFSETS_BYTES = 96
export const NUMBERS_BYTES = 24

/** Bytes per slot of a row template: address of its fixed text in the template, its length, its cell's place in the offsets, and 1 to trim it. */
export const SLOT_BYTES = 16

/** Bytes per candle. */
export const CANDLE_BYTES = 176
/** Where the parts of a candle start. Times (ms UTC) and count are doubles. */
export const OPEN_TIME = 0
/** 32 bits: how many candles were added up. */
export const ROWS = 8
/** 32 bits: 1 when it was compared with another. */
export const COMPARED = 12
/** 8 bytes: the number of digits after the point of each decimal, as written; LONG for one of more than 15 digits before it or 8 after it. */
export const DIGITS = 16
export const LONG = 128
/** From DIGITS on, the sum of one candle equals that candle; from here on, all candles with the same values are equal, but for long decimals. */
export const CLOSE_TIME = 24
export const COUNT = 32
/** 64 bits: the interned text of the last column, below 2^32; 0 is `0`. */
export const IGNORE = 40
/** 8 times 128 bits, little-endian: the decimals in units of 10^-8; of a long one, 32 bits: its interned text. */
export const DECIMALS = 48
export const DECIMAL_BYTES = 16

/** Bytes of the summary of a column's values, and where its parts start. */
export const SUMMARY_BYTES = 48
/** The least and the greatest value: 128 bits, little-endian, of decimals, and doubles of others. */
export const MIN = 0
export const MAX = 16
/** 32 bits: how many decimals a double does not hold. */
export const INEXACT = 32
