import { describe, expect, it } from 'vitest'
import { upstreamSetup } from '../../support/servers/upstream-setup.js'
import { FULL_WEEKS, FUTURE_WEEK, putFile, STARTED, SYMBOLS, weekPath } from '../../support/synthetic-tree.js'

describe('the lists of the service are served', () => {
  const LIST = 'api/klines/start-dates/15m.json'

  it('not the built-in ones, and not earlier versions', async () => {
    const { tree, request, stored } = await upstreamSetup()
    expect(JSON.parse(String((await request('api/klines/symbols.json')).body))).toEqual(SYMBOLS)
    expect(JSON.parse(String((await request(LIST)).body))).toEqual([...STARTED, FUTURE_WEEK])
    const longer = [...STARTED, FUTURE_WEEK, '2025-02-24']
    putFile(tree, LIST, longer)
    expect(JSON.parse(String((await request(LIST)).body))).toEqual(longer)
    expect(JSON.parse(String(stored('.klines/start-dates/15m.json')))).toEqual(longer)
    expect(stored(LIST)).toBeUndefined()
  })

  it('also with unknown symbols alone, unless a cached one is missing or there is none', async () => {
    const { tree, request } = await upstreamSetup()
    const get = async (symbols: string[]) => {
      putFile(tree, 'api/klines/symbols.json', symbols)
      const { status, headers, body } = await request('api/klines/symbols.json')
      return [status, headers.warning?.slice(0, 3), JSON.parse(String(body))]
    }
    const known = ['NEWUSDT', 'BTCUSDT']
    expect(await get(known)).toEqual([200, undefined, known])
    expect(await get([])).toEqual([200, '111', known])
    expect(await get(['NEWUSDT'])).toEqual([200, undefined, ['NEWUSDT']])
    await request(weekPath('BTCUSDT', FULL_WEEKS[0]))
    expect(await get(['ETHUSDT'])).toEqual([200, '111', ['NEWUSDT', 'BTCUSDT']])
  })

  it.each(['nonsense', '["2025-01-07"]', JSON.stringify(STARTED.slice(0, 3))])(
    'but not %s: the cached list is served with a warning',
    async body => {
      const { service, request } = await upstreamSetup()
      const before = await request(LIST)
      service.always(LIST, { body })
      const response = await request(LIST)
      expect([response.status, response.body.equals(before.body)]).toEqual([200, true])
      expect(response.headers.warning).toMatch(/^111 /)
    },
  )
})
