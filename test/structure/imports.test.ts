import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Edge, filesOf, findCycle, findEdges, packagesLoadedBy, ROOT, sourceFiles } from '../support/imports.js'

/** A folder imports from itself and from lower layers, never from another folder of its own layer. */
const LAYERS: Record<string, number> = {
  'version.ts': 0,
  'ambient.d.ts': 0,
  candles: 0,
  'rows/wasm': 1,
  rows: 2,
  fs: 3,
  'options.ts': 3,
  chart: 3,
  sources: 4,
  greeting: 5,
  mirror: 5,
  formats: 6,
  engine: 7,
  verify: 8,
  lake: 8,
  identity: 9,
  server: 10,
  'greeting.ts': 10,
  'worker.ts': 11,
  'index.ts': 11,
  cli: 12,
  'commands/reports': 13,
  'commands/runs': 14,
  commands: 15,
  'main.ts': 16,
  'commands.ts': 16,
}
const HEAVY = ['ajv', 'apache-arrow', 'hyparquet-writer']

const all = findEdges()
/** The room of a file; `rows/wasm` is a layer of its own. */
function partOf(file: string): string {
  const [, room, inner] = file.split('/')
  if (room === 'commands' && ['reports', 'runs'].includes(inner)) return `commands/${inner}`
  return room === 'rows' && inner === 'wasm' ? 'rows/wasm' : room
}
const describeEdge = ({ from, specifier, kind }: Edge) => `${from} imports ${specifier} (${kind})`

function isAllowed({ from, target }: Edge): boolean {
  if (target === undefined) return true
  const [part, other] = [partOf(from), partOf(target)]
  return part === other || LAYERS[other] < LAYERS[part]
}

describe('imports go one way: main > commands > cli > server > identity > lake, verify > engine > formats > mirror > sources > rows > candles', () => {
  it('every folder of src has a layer', () => {
    expect(sourceFiles().filter(file => LAYERS[partOf(file)] === undefined)).toEqual([])
  })

  it('no import goes up or sideways', () => {
    expect(all.filter(edge => !isAllowed(edge)).map(describeEdge)).toEqual([])
  })

  it('candles, rows and chart import no module of Node, but that of hashes', () => {
    const pure = ['candles', 'rows', 'rows/wasm', 'chart']
    const wrong = all.filter(
      ({ from, specifier }) => pure.includes(partOf(from)) && isBuiltin(specifier) && specifier !== 'node:crypto',
    )
    expect(wrong.map(describeEdge)).toEqual([])
  })

  it('the viewer loads pure rooms alone, and nobody imports it', () => {
    const isViewer = (file: string) => file.startsWith('src/server/viewer/')
    const viewer = sourceFiles().filter(isViewer)
    const rooms = new Set(
      viewer.flatMap(file => filesOf(all, file)).map(file => (isViewer(file) ? 'viewer' : partOf(file))),
    )
    // Not the kernel: it is 7 KB, and the viewer draws numbers.
    const pure = ['viewer', 'candles', 'rows', 'chart']
    expect([...rooms].filter(room => !pure.includes(room))).toEqual([])
    expect(rooms).toContain('rows')
    const packages = new Set(viewer.flatMap(file => packagesLoadedBy(all, file)))
    expect([...packages].sort()).toEqual([
      '@date-fns/utc/date/mini',
      'date-fns/sub',
      'fastest-levenshtein',
      'lightweight-charts',
      'lru-cache',
      'p-map',
    ])
    expect(all.filter(({ from, target = '' }) => !isViewer(from) && isViewer(target)).map(describeEdge)).toEqual([])
  })

  it('no command imports another command', () => {
    const commands = all.filter(({ from }) => partOf(from) === 'commands' && from !== 'src/commands/index.ts')
    expect(commands.filter(({ target }) => target && partOf(target) === 'commands').map(describeEdge)).toEqual([])
  })

  it('index.ts only re-exports', () => {
    const text = readFileSync(join(ROOT, 'src/index.ts'), 'utf8')
    expect(text.replaceAll(/\/\*.*?\*\/|export (type )?\{[^}]*\} from '[^']*'/gs, '').trim()).toBe('')
  })
})

it('the library loads arrow and parquet only on demand', () => {
  const parquet = packagesLoadedBy(all, 'src/formats/parquet/parquet.ts')
  expect(parquet).toContain('hyparquet-writer/src/metadata.js')
  // Loading Arrow takes as long as writing 20,000 rows.
  expect(parquet).not.toContain('apache-arrow')
  expect(packagesLoadedBy(all, 'src/formats/arrow.ts')).toContain('apache-arrow')
  expect(packagesLoadedBy(all, 'src/index.ts')).toContain('@date-fns/utc/date/mini')
  expect(packagesLoadedBy(all, 'src/index.ts').filter(name => HEAVY.includes(name.split('/')[0]))).toEqual([])
})

/** Small packages that flags need. */
const LIGHT = ['fastest-levenshtein']
const commands = sourceFiles().filter(file => partOf(file) === 'commands' && file !== 'src/commands/index.ts')

it.each(commands)('%s loads oclif alone before its job runs', file => {
  const packages = packagesLoadedBy(all, file).filter(name => !isBuiltin(name) && !LIGHT.includes(name))
  expect(packages).toContain('@oclif/core/command')
  expect(packages.filter(name => !name.startsWith('@oclif/core/'))).toEqual([])
})

it('no import cycles', () => {
  expect(findCycle(all)).toBeUndefined()
})
