// How rows lie in the memory that TypeScript and WebAssembly share. Read by both compilers, so numbers alone.

/** Numbers a row of an index: start and end of each of the 12 cells. */
export const OFFSETS_PER_ROW = 24
/** Numbers a row of an index: open time, close time (ms UTC) and count. */
export const NUMBERS_PER_ROW = 3
/** Bytes a row of an index: start and end of each of the 12 cells, 32 bits each. */
export const OFFSETS_BYTES = 96
/** Bytes a row of an index: open time, close time and count, a double each. */
export const NUMBERS_BYTES = 24

/** Bytes a slot of a row template: where its fixed text lies in the program, its length, where its cell lies in a row's offsets. */
export const SLOT_BYTES = 12

/** Bytes a candle. */
export const CANDLE_BYTES = 176
/** Where in a candle its parts begin. Times (ms UTC) and count are doubles. */
export const OPEN_TIME = 0
/** 32 bits: how many candles it is made of. */
export const ROWS = 8
/** 32 bits: 1 when it was compared with another. */
export const COMPARED = 12
/** From here on a candle made of one other is that one. */
export const CLOSE_TIME = 16
export const COUNT = 24
/** 8 bytes: digits after the point of each decimal, as written. */
export const DIGITS = 32
/** 32 bits: which text stands at its end; 0 is `0`. */
export const IGNORE = 40
/** 32 bits: 1 when there were trades. */
export const TRADED = 44
/** 8 times 128 bits, little-endian: the decimals in units of 10^-8. */
export const DECIMALS = 48
export const DECIMAL_BYTES = 16

/** Stands for a row that is not there. */
export const NO_ROW = 0xffffffff
/** The text at a candle's end that the kernel leaves to its caller to name. */
export const UNNAMED = 0xffffffff
