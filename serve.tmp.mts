import { writeFileSync } from 'node:fs'
import { longMarket } from '/tmp/w/m1/test/support/archive/long-market.ts'
import { ArchiveServer } from '/tmp/w/m1/test/support/servers/archive-server.ts'
import { ExchangeServer } from '/tmp/w/m1/test/support/servers/exchange-server.ts'
const years = Number(process.argv[2])
const from = Date.UTC(2026-years, 10, 27), today = new Date(Date.UTC(2026,10,27))
const market = longMarket('BTCUSDT', from, Date.now())
const exchange = await ExchangeServer.open(market), archive = await ArchiveServer.open(market, Date.now())
exchange.now = () => Date.now()
for (let m = new Date(from); m < today; m.setUTCMonth(m.getUTCMonth()+1,1)) { const s=m.toISOString().slice(0,7); const n=`BTCUSDT-1m-${s}`; const z=archive.findZip(`data/spot/monthly/klines/BTCUSDT/1m/${n}.zip`); if(z) archive.zips.set(n,z) }
writeFileSync('/tmp/c43.env', `EX=${exchange.url}\nAR=${archive.url}\n`)
console.log('ready')
