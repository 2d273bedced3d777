import { expect, it } from 'vitest'
import { findSymbols } from '../../../src/server/viewer/symbol-box.js'

const NAMES = ['BTCUSDT', 'ETHUSDT', 'WBETHUSDT', 'BETHUSDT', 'ETHBTC', 'ETH', '币安人生USDT']

it.each([
  ['eth', ['ETH', 'ETHUSDT', 'ETHBTC', 'WBETHUSDT', 'BETHUSDT']],
  ['eth/u', ['ETHUSDT', 'WBETHUSDT', 'BETHUSDT']],
  ['btc', ['BTCUSDT', 'ETHBTC']],
  ['人生', ['币安人生USDT']],
  ['BTCUDST', ['BTCUSDT']],
  ['PEPEUSDT', []],
  ['', NAMES],
  [' - ', NAMES],
])('%j may stand for %j', (text, symbols) => {
  expect(findSymbols(text, NAMES)).toEqual(symbols)
})
