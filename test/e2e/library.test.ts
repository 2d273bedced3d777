import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { beforeAll, describe, expect, it } from 'vitest'
import { type CliSandbox, PROJECT, useSandboxes } from '../support/cli/cli-sandbox.js'
import { csvOf, SAMPLE_TREE, sampleRows } from '../support/sample-tree.js'

const newSandbox = useSandboxes()
const SOURCE = `baseUrl: undefined, offline: true, mirror: ${JSON.stringify(SAMPLE_TREE)}`

describe('the library, in another project where it is installed', () => {
  let sandbox: CliSandbox
  beforeAll(() => {
    sandbox = newSandbox()
    mkdirSync(sandbox.path('node_modules'))
    symlinkSync(PROJECT, sandbox.path('node_modules/klines'))
    sandbox.write('package.json', '{ "type": "module" }')
  })

  /** Runs a module that imports `klines`; returns the JSON that it prints. */
  async function printedBy(name: string, source: string): Promise<unknown> {
    const run = await sandbox.node([sandbox.write(name, source)])
    expect(run).toMatchObject({ code: 0, stderr: '' })
    return JSON.parse(run.stdout)
  }

  it('klineRows returns the rows of the service, exportKlines writes a file, and errors have a code to branch on', async () => {
    const source = `import { exportKlines, isKlinesError, klineRows } from 'klines'
      const rows = []
      const request = { symbols: ['BTC/USDT', 'ETHUSDT'], intervals: ['1d'], from: '2025-03', to: '2025-03-03', ${SOURCE} }
      for await (const { series, row } of klineRows({ ...request, as: 'arrays' })) rows.push([series.symbol, ...row])
      const { files } = await exportKlines({ symbols: ['BTCUSDT'], intervals: ['2h'], output: 'two.csv', ${SOURCE} })
      const error = await exportKlines({ symbols: ['BTCUSD'], intervals: ['1h'], output: 'x.csv', ${SOURCE} }).catch(e => e)
      const codes = [isKlinesError(error, 'unknown_symbol'), error.name, error.suggestions]
      console.log(JSON.stringify({ rows, files, codes }))`
    const rows = ['BTCUSDT', 'ETHUSDT'].flatMap(symbol =>
      sampleRows(symbol, '1d')
        .filter(([time]) => (time as number) >= Date.UTC(2025, 2) && (time as number) < Date.UTC(2025, 2, 3))
        .map(row => [symbol, ...row]),
    )
    const text = csvOf(sampleRows('BTCUSDT', '2h'))
    expect(rows).toHaveLength(4)
    expect(await printedBy('all.js', source)).toMatchObject({
      rows,
      files: [{ path: 'two.csv', candles: sampleRows('BTCUSDT', '2h').length, bytes: text.length }],
      codes: [true, 'KlinesError', [expect.stringContaining('BTCUSDT')]],
    })
    expect(sandbox.text('two.csv')).toBe(text)
  })

  it('updateUser, getSpec and streamTokens call the greeting API', async () => {
    const source = `import { getSpec, streamTokens, updateUser } from 'klines/greeting'
      import { serve } from 'klines'
      const server = await serve({ baseUrl: 'sample', mirror: 'greeted', upstream: true })
      const baseUrl = server.url
      const fields = { email: 'a@example.com', profile: { name: 'A B', age: 30 } }
      const answer = await updateUser('123e4567-e89b-12d3-a456-426614174000', fields, { baseUrl, notify: 'push' })
      const { openapi } = await getSpec('greeting', { baseUrl })
      let first
      for await (const { message } of streamTokens({ baseUrl })) { first = message; break }
      const { code } = await updateUser('x', {}, { baseUrl }).catch(e => e)
      await server.close()
      console.log(JSON.stringify({ answer, openapi, first, code }))`
    expect(await printedBy('greeting.js', source)).toEqual({
      answer: { success: true, id: '123e4567-e89b-12d3-a456-426614174000', notify: 'push' },
      openapi: '3.1.0',
      first: expect.any(String),
      code: 'rejected',
    })
  })

  it('an AbortSignal ends a run, and a process ends by itself after a break in a loop', async () => {
    const source = `import { createServer } from 'node:http'
      import { downloadKlines, klineRows } from 'klines'
      let first
      for await (const { row } of klineRows({ symbols: ['BTCUSDT'], intervals: ['15m'], as: 'arrays', ${SOURCE} })) {
        first = row
        break
      }
      const controller = new AbortController()
      const server = createServer(() => controller.abort(new Error('enough'))).listen(0, '127.0.0.1', async () => {
        const baseUrl = 'http://127.0.0.1:' + server.address().port
        const request = { symbols: ['BTCUSDT'], intervals: ['1h'], baseUrl, mirror: 'aborted', signal: controller.signal }
        const error = await downloadKlines(request).catch(e => e)
        server.closeAllConnections()
        server.close(() => console.log(JSON.stringify([first, error.message])))
      })`
    expect(await printedBy('abort.js', source)).toEqual([sampleRows('BTCUSDT', '15m')[0], 'enough'])
  })

  it('has types that compile strictly and reject a wrong value', async () => {
    const right = sandbox.write(
      'right.ts',
      `import { exportKlines, type ExportReport, type KlineRow, klineRows, KlinesError, type ErrorCode } from 'klines'
      import { updateUser } from 'klines/greeting'
      export const update: typeof updateUser = updateUser
      const rows: KlineRow[] = []
      for await (const { series, row } of klineRows({ symbols: ['BTCUSDT'], intervals: ['1h'], last: '90d', as: 'arrays' })) {
        const [openTime, open]: readonly [number, string, ...unknown[]] = row
        if (series.interval === '1h' && openTime > 0 && open.length > 0) rows.push(row)
      }
      try {
        const report: ExportReport = await exportKlines({ symbols: 'all', intervals: ['1d'], output: '-', format: 'csv' })
        const bytes: number = report.files[0].bytes
        console.log(bytes)
      } catch (error) {
        const code: ErrorCode | undefined = error instanceof KlinesError ? error.code : undefined
        console.log(code)
      }`,
    )
    const wrong = sandbox.write(
      'wrong.ts',
      `import { exportKlines } from 'klines'
      await exportKlines({ symbols: ['BTCUSDT'], intervals: ['1h'], output: 'x', format: 'xml' })
      await exportKlines({ symbols: ['BTCUSDT'], intervals: [60], output: 'x' })`,
    )
    const program = ts.createProgram([right, wrong], {
      ...{ strict: true, exactOptionalPropertyTypes: true, noEmit: true, target: ts.ScriptTarget.ES2022 },
      ...{ module: ts.ModuleKind.NodeNext, types: ['node'], typeRoots: [join(PROJECT, 'node_modules', '@types')] },
    })
    // The types of the package too, not those of its dependencies.
    const files = program.getSourceFiles().filter(({ fileName }) => !fileName.includes('/node_modules/'))
    expect(files.filter(({ fileName }) => fileName.startsWith(`${PROJECT}/dist/`)).length).toBeGreaterThan(10)
    const errors = files.flatMap(file => [
      ...program.getSyntacticDiagnostics(file),
      ...program.getSemanticDiagnostics(file),
    ])
    expect(errors.map(({ file }) => file?.fileName)).toEqual([wrong, wrong])
    const [format, interval] = errors.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
    expect([format, interval]).toEqual([expect.stringContaining('"xml"'), expect.stringContaining('number')])
  })
})
