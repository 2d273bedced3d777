import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { type CliSandbox, PROJECT, useSandboxes } from '../support/cli/cli-sandbox.js'
import { csvOf, SAMPLE_TREE, sampleRows } from '../support/sample-tree.js'

const newSandbox = useSandboxes()
/** What a clone has when it is packed: the sources too, which tell that the build is not outdated. */
const CLONE = ['bin', 'dist', 'fixtures', 'src', 'LICENSE', 'oclif.manifest.json', 'package-lock.json', 'package.json']
CLONE.push('README.md', 'tsconfig.json')
const ID = '123e4567-e89b-12d3-a456-426614174000'
const SOURCE = `baseUrl: undefined, offline: true, mirror: ${JSON.stringify(SAMPLE_TREE)}`

const text = ['README.md', 'src/docs/library.md', 'src/docs/greeting.md']
  .map(name => readFileSync(join(PROJECT, name), 'utf8'))
  .join('\n')
const blocks = [...text.matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code)

/** The values that comments behind `console.log` announce. */
function announced(code: string): string[] {
  return [...code.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)].map(([, value]) => value)
}

/** Another project in which `klines` is installed. */
function newProject(): CliSandbox {
  const sandbox = newSandbox()
  mkdirSync(sandbox.path('node_modules'))
  symlinkSync(PROJECT, sandbox.path('node_modules/klines'))
  sandbox.write('package.json', '{ "type": "module" }')
  return sandbox
}

describe('the library, in another project where it is installed', () => {
  const sandbox = newProject()

  it('returns rows, writes files, calls the greeting API, has codes of errors, obeys a signal, and a process ends by itself', async () => {
    const source = `import { createServer } from 'node:http'
      import { downloadKlines, exportKlines, isKlinesError, klineRows, serve } from 'klines'
      import { getSpec, streamTokens, updateUser } from 'klines/greeting'
      const rows = []
      const request = { symbols: ['BTC/USDT', 'ETHUSDT'], intervals: ['1d'], from: '2025-03', to: '2025-03-03', ${SOURCE} }
      for await (const { series, row } of klineRows({ ...request, as: 'arrays' })) rows.push([series.symbol, ...row])
      const { files } = await exportKlines({ symbols: ['BTCUSDT'], intervals: ['2h'], output: 'two.csv', ${SOURCE} })
      const error = await exportKlines({ symbols: ['BTCUSD'], intervals: ['1h'], output: 'x.csv', ${SOURCE} }).catch(e => e)
      const codes = [isKlinesError(error, 'unknown_symbol'), error.name, error.suggestions]

      const server = await serve({ baseUrl: 'sample', mirror: 'greeted', upstream: true })
      const { url: baseUrl } = server
      const fields = { email: 'a@example.com', profile: { name: 'A B', age: 30 } }
      const answer = await updateUser('${ID}', fields, { baseUrl, notify: 'push' })
      const { openapi } = await getSpec('greeting', { baseUrl })
      let token
      for await (const { message } of streamTokens({ baseUrl })) { token = message; break }
      const { code } = await updateUser('x', {}, { baseUrl }).catch(e => e)
      await server.close()

      let first
      for await (const { row } of klineRows({ symbols: ['BTCUSDT'], intervals: ['15m'], as: 'arrays', ${SOURCE} })) {
        first = row
        break
      }
      const controller = new AbortController()
      const silent = createServer(() => controller.abort(new Error('enough'))).listen(0, '127.0.0.1', async () => {
        const baseUrl = 'http://127.0.0.1:' + silent.address().port
        const request = { symbols: ['BTCUSDT'], intervals: ['1h'], baseUrl, mirror: 'aborted', signal: controller.signal }
        const { message } = await downloadKlines(request).catch(e => e)
        silent.closeAllConnections()
        const greeted = { answer, openapi, token, code }
        silent.close(() => console.log(JSON.stringify({ rows, files, codes, greeted, first, message })))
      })`
    const rows = ['BTCUSDT', 'ETHUSDT'].flatMap(symbol =>
      sampleRows(symbol, '1d')
        .filter(([time]) => (time as number) >= Date.UTC(2025, 2) && (time as number) < Date.UTC(2025, 2, 3))
        .map(row => [symbol, ...row]),
    )
    const text = csvOf(sampleRows('BTCUSDT', '2h'))
    expect(rows).toHaveLength(4)
    const run = await sandbox.node([sandbox.write('all.js', source)])
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(run.stdout)).toEqual({
      rows,
      files: [
        expect.objectContaining({ path: 'two.csv', candles: sampleRows('BTCUSDT', '2h').length, bytes: text.length }),
      ],
      codes: [true, 'KlinesError', [expect.stringContaining('BTCUSDT')]],
      greeted: {
        answer: { success: true, id: ID, notify: 'push' },
        openapi: '3.1.0',
        token: expect.any(String),
        code: 'rejected',
      },
      first: sampleRows('BTCUSDT', '15m')[0],
      message: 'enough',
    })
    expect(sandbox.text('two.csv')).toBe(text)
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
      ...{ strict: true, exactOptionalPropertyTypes: true, noEmit: true, lib: ['lib.es2022.d.ts'] },
      ...{
        target: ts.ScriptTarget.ES2022,
        module: ts.ModuleKind.NodeNext,
        types: ['node'],
        typeRoots: [join(PROJECT, 'node_modules', '@types')],
      },
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

describe('the examples of the library in the README and its documents', () => {
  it('are there, and announce values', () => {
    expect(blocks.map(code => announced(code).length)).toEqual([0, 6, 7, 2, 2, 2, 12, 3])
  })

  it('run one after the other, each in an empty folder, and print what they announce', async () => {
    const sandbox = newProject()
    const folders = blocks.map((code, index) => {
      const folder = sandbox.path(`example-${index + 1}`)
      mkdirSync(folder)
      sandbox.write(`example-${index + 1}/example.mjs`, code)
      return folder
    })
    const all = `for (const folder of ${JSON.stringify(folders)}) {
      process.chdir(folder)
      process.env.XDG_CACHE_HOME = folder + '/cache'
      await import(folder + '/example.mjs')
      console.log('THE END')
    }`
    const run = await sandbox.node([sandbox.write('all.mjs', all)])
    expect(run.code, run.stderr).toBe(0)
    const printed = run.stdout.split('THE END\n').slice(0, -1)
    expect(printed).toHaveLength(blocks.length)
    for (const [index, code] of blocks.entries()) {
      const values = announced(code)
      const lines = printed[index].trimEnd().split('\n')
      expect(
        lines.filter(line => values.includes(line)),
        `example ${index + 1}`,
      ).toEqual(values)
    }
  })

  it('name everything that is exported', () => {
    const exported = (path: string) =>
      [...readFileSync(join(PROJECT, path), 'utf8').matchAll(/export \{([^}]*)\}/g)].flatMap(([, names]) =>
        names
          .split(',')
          .map(name => name.trim())
          .filter(name => name !== '' && !name.startsWith('type ')),
      )
    const names = [...exported('src/index.ts'), ...exported('src/greeting.ts')]
    expect(names.length).toBeGreaterThan(30)
    const code = blocks.map(block => block.replaceAll(/^import [\s\S]*? from .*$/gm, '')).join('\n')
    expect(names.filter(name => !new RegExp(`\\b${name}\\b`).test(code))).toEqual([])
  })
})

it('npm pack makes a package without a prepare script that runs by itself, and leaves package.json as it was', async () => {
  const sandbox = newSandbox()
  const clone = sandbox.path('clone')
  mkdirSync(clone)
  // With the times of folders too, so that nothing is built.
  const script = [
    `(cd '${PROJECT}' && cp -a ${CLONE.join(' ')} '${clone}')`,
    '(cd clone && npm pack --silent --offline --pack-destination ..)',
    'tar xzf klines-*.tgz',
  ]
  const packed = await sandbox.shell(script.join(' && '))
  expect(packed.code, packed.stderr).toBe(0)
  expect(packed.stderr).toBe('')
  expect(readFileSync(join(clone, 'package.json'), 'utf8')).toBe(readFileSync(join(PROJECT, 'package.json'), 'utf8'))

  const { scripts } = JSON.parse(sandbox.text('package/package.json')) as { scripts: Record<string, string> }
  expect(Object.keys(scripts).filter(name => /^(pre|post)?(prepare|install|publish)$/.test(name))).toEqual([])
  symlinkSync(join(PROJECT, 'node_modules'), sandbox.path('package/node_modules'))
  const run = (...args: string[]) => sandbox.node([sandbox.path('package/bin/run.js'), ...args])
  expect((await run('--help')).stdout).toMatch(/^Download, verify, export and serve/)
  const download = ['download', 'BTCUSDT', '-i', '1d', '--base-url', 'sample', '-o', 'btcusdt.csv']
  expect(await run(...download)).toMatchObject({ code: 0 })
  expect(sandbox.text('btcusdt.csv').split('\n').length).toBe(93)
})
