import { expect, it } from 'vitest'
import { downloadKlines } from '../../src/engine/klines.js'
import { downloadSetup } from '../support/download-setup.js'
import { catchError } from '../support/errors.js'
import { SYMBOLS } from '../support/synthetic-tree.js'

const SYMBOLS_LIST = 'api/klines/symbols.json'

it('a pattern stands for the symbols that the service lists and it matches', async () => {
  const { server, request } = await downloadSetup()
  const { series } = await downloadKlines({ ...request, symbols: ['?th*', 'e*'] })
  expect(series.map(({ symbol }) => symbol)).toEqual(['ETHUSDT'])
  expect(server.paths()[0]).toBe(SYMBOLS_LIST)
  expect(new Set(server.paths('windows').map(path => path.split('/')[3]))).toEqual(new Set(['ETHUSDT']))
})

it('a pattern beside names that it matches too has each symbol once, in the given order', async () => {
  const { request, warnings } = await downloadSetup()
  const { series } = await downloadKlines({ ...request, symbols: ['ETHUSDT', '*USDT'] })
  expect(series.map(({ symbol }) => symbol)).toEqual(['ETHUSDT', ...SYMBOLS.filter(symbol => symbol !== 'ETHUSDT')])
  expect(warnings).toEqual([])
})

it('a pattern that none matches names the symbols of the service, and no window is requested', async () => {
  const { server, request } = await downloadSetup()
  const error = await catchError(downloadKlines({ ...request, symbols: ['BTCUSDT', 'DOT*'] }))
  expect(error).toMatchObject({
    code: 'unknown_symbol',
    message: `No symbol matches "DOT*". There are ${SYMBOLS.join(', ')}.`,
  })
  expect(server.paths()).toEqual([SYMBOLS_LIST])
})
