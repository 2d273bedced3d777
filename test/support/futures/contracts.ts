import type { KlineRow } from '../../../src/candles/columns.js'

/** A span of time, ms UTC: its start and its end, exclusive. */
export type Span = readonly [start: number, end: number]

/** A contract of the USD-M futures exchange. Times are ms UTC, on a minute. */
export interface Contract {
  /** When its first candle of 1m opens. */
  readonly from: number
  /** When it was delivered or settled. */
  readonly until?: number
  /** Where the flat candles after its end stop; without it there are none. */
  readonly flatUntil?: number
  /** Spans in which nothing was traded. */
  readonly halts?: readonly Span[]
  /** Digits after the point of its prices and volumes. Default: 2 and 3. */
  readonly places?: readonly [price: number, volume: number]
  /** Its lowest price, in units of the last digit. A higher one than 3,000,000 makes sums of a month inexact. Default: 700,000. */
  readonly price?: number
  /** Hours between funding times, and since when. Default: 8. */
  readonly funding?: readonly (readonly [from: number, hours: number])[]
  /** Another contract that had the name before: only the archive has its candles. */
  readonly earlier?: Span
  /** The rows of an interval as they are, instead of made ones. */
  readonly rows?: (interval: string) => readonly KlineRow[]
  /** What `exchangeInfo` says. Defaults: the name, PERPETUAL, TRADING, `from`. */
  readonly pair?: string
  readonly type?: string
  readonly status?: string
  readonly onboardDate?: number
}

const at = (text: string) => Date.parse(`${text}Z`)
const HOUR = 3_600_000

/** Real rows, as REST and the archive have published them, without the last cell. */
const REAL = `
1m 1577836800000,7189.43,7190.52,7177,7182.44,246.092,1577836859999,1767430.16121,336,46.630,334813.19820
1m 1577836860000,7182.43,7182.44,7178.75,7179.01,70.909,1577836919999,509145.78482,140,32.597,234063.27884
1h 1598918400000,11658.11,11675.00,11531.34,11618.27,15015.299,1598921999999,174112062.33123,48351,6666.854,77327235.25097
1h 1748736000000,104544.60,104599.60,104277.30,104408.70,3438.526,1748739599999,358998670.72560,71534,1691.726,176614558.10500
4h 1577851200000,7221.80,7230,7193.52,7205.26,5738.351,1577865599999,41410695.20475,10298,2855.460,20607525.79974
1d 1567900800000,10000,10412.65,10000,10391.63,3096.291,1567987199999,32096280.44997,3754,0.039,393.35627
1d 1577836800000,7189.43,7260.43,7170.15,7197.57,56801.329,1577923199999,409678760.56957,101871,28834.200,208001969.84595
1d 1671148800000,1.678,1.678,1.678,1.678,0.0,1671235199999,0.0000,0,0.0,0.0000`

/** The rows of an interval in the text above. */
function realRows(interval: string): KlineRow[] {
  const lines = REAL.split('\n').filter(line => line.startsWith(`${interval} `))
  return lines.map(line => {
    const cells = line.slice(interval.length + 1).split(',')
    return [...cells.map((cell, column) => ([0, 6, 8].includes(column) ? Number(cell) : cell)), '0'] as KlineRow
  })
}

const FOUR_HOURS = [at('2024-06-01T00:00'), 4] as const
/** Quarterlies have no funding. */
const QUARTERLY = { pair: 'BTCUSDT', places: [1, 3], price: 70_000, funding: [] } as const

/** The contracts that tests need most. */
export const CONTRACTS: Readonly<Record<string, Contract>> = {
  BTCUSDT: {
    from: at('2019-09-08T17:57'),
    onboardDate: at('2019-09-25T08:00'),
    funding: [[at('2019-09-10T08:00'), 8]],
    halts: [[at('2022-05-28T15:45'), at('2022-05-28T16:15')]],
  },
  /** Funding every four hours since June 2024. */
  ETHUSDT: {
    from: at('2019-11-27T07:45'),
    price: 20_000,
    funding: [[at('2019-11-27T08:00'), 8], FOUR_HOURS],
  },
  BTCUSDT_261225: {
    ...QUARTERLY,
    from: at('2026-03-27T08:00'),
    until: at('2026-12-25T08:00'),
    type: 'CURRENT_QUARTER',
  },
  /** Delivered: no list has it any more. */
  BTCUSDT_260327: { ...QUARTERLY, from: at('2025-09-26T08:00'), until: at('2026-03-27T08:00') },
  /** Settled, with flat candles for weeks. */
  FTTBUSD: {
    from: at('2022-08-24T09:30'),
    until: at('2022-11-14T09:00'),
    flatUntil: at('2023-01-20T00:00'),
    places: [3, 1],
    price: 1_600,
  },
  /** A name that was used again. */
  LITUSDT: {
    from: at('2025-12-30T12:00'),
    earlier: [at('2024-10-20T07:00'), at('2025-01-23T09:00')],
    places: [3, 1],
    price: 2_400,
    funding: [[at('2025-12-30T12:00'), 1]],
  },
  AERGOUSDTSETTLED: { from: at('2024-12-20T10:00'), until: at('2025-04-16T09:00'), places: [4, 0], price: 1_100 },
  /** Listed the day before the clock of tests. */
  NEWUSDT: { from: at('2026-04-29T12:03'), places: [5, 0], price: 6_500 },
  REALUSDT: { from: at('2019-09-08T17:57'), rows: realRows },
  TSLAUSDT: { from: at('2026-01-28T14:30'), type: 'TRADIFI_PERPETUAL', status: 'MARKET_CLOSED' },
  币安人生USDT: { from: at('2025-10-08T07:15'), places: [5, 0], price: 14_000 },
  龙虾USDT: { from: at('2026-03-10T10:00'), places: [5, 0], status: 'SOMETHING_NEW' },
  /** 41 bytes. */
  A1234567890123456789012345678901234567USDT: { from: at('2026-04-01T00:00') },
}

/** When the candles of a contract end. */
export function endOf({ until = Infinity, flatUntil = until }: Contract): number {
  return flatUntil
}

/** Whether `exchangeInfo` lists a contract: it leaves the list a day after its end. */
export function isListed({ from, until = Infinity }: Contract, now: number): boolean {
  return now >= from - 24 * HOUR && now < until + 24 * HOUR
}
