import { expect, it } from 'vitest'
import { downloadKlines } from '../../src/index.js'
import { exchangeSetup } from '../support/exchange/exchange-setup.js'
import { madeMarket } from '../support/exchange/made-market.js'
import { ArchiveServer } from '../support/servers/archive-server.js'

it('smoke', async () => {
  const market = madeMarket({ BTCUSDT: { from: '2025-11-05T04:00Z', minutes: true } })
  const { exchange, request, warnings, requests } = await exchangeSetup(market)
  const archive = await ArchiveServer.start(market, exchange.time)
  const t = performance.now()
  const report = await downloadKlines({ ...request(), symbols: ['BTCUSDT'], intervals: ['1m'], archiveUrl: archive.url })
  console.log(performance.now() - t, report.archive, report.series[0].windows, report.requests, warnings, archive.names, requests())
})
