/** How hard the long tests go on, from the environment; 0, and they are left out. */
export const SOAK = Number(process.env.KLINES_SOAK ?? 0)
