/** The length of long tests, from the environment; 0 skips them. */
export const SOAK = Number(process.env.KLINES_SOAK ?? 0)
