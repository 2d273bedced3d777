import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { CliSandbox, type Run, type Running } from '../../support/cli/cli-sandbox.js'
import { TreeServer } from '../../support/servers/tree-server.js'
import { tempFolder } from '../../support/temp-folder.js'
import { startNaiveWriter } from './naive-writer.js'
import { SOAK_SYMBOLS, soakTree } from './soak-tree.js'
import { contents, type Survey, survey } from './survey.js'

const LIST = 'api/klines/start-dates/15m.json'

/** A tree behind a server, and a mirror of it that runs are killed over. */
export class KilledMirror {
  readonly sandbox: CliSandbox
  private readonly mirror: string
  /** What every file of a whole mirror holds. */
  private readonly expected: Map<string, Buffer>
  private csv: Buffer = Buffer.alloc(0)

  private constructor(
    readonly server: TreeServer,
    private readonly windows: ReadonlyMap<string, Buffer>,
    folder: string,
  ) {
    this.sandbox = new CliSandbox(folder)
    this.mirror = this.sandbox.path('m')
    this.expected = new Map(windows)
  }

  /** With a run that is left alone, so that it is known what a whole mirror and its export hold. */
  static async make(): Promise<KilledMirror> {
    const [tree, folder] = [tempFolder(), tempFolder()]
    const windows = soakTree(tree)
    const place = new KilledMirror(await TreeServer.start(tree), windows, folder)
    expect(await place.repair()).toMatchObject({ code: 0, stderr: '' })
    const held = contents(place.mirror)
    place.expected.set(LIST, readFileSync(join(tree, LIST)))
    for (const own of ['mirror.json', 'CACHEDIR.TAG']) place.expected.set(own, held.get(own) ?? Buffer.alloc(0))
    expect([...held.keys()].sort()).toEqual([...place.expected.keys()].sort())
    expect(place.survey()).toMatchObject({ torn: [], temps: [] })
    place.csv = place.sandbox.bytes('out.csv')
    place.clear()
    return place
  }

  /** Starts a download of all there is. */
  download(): Running {
    this.server.log.length = 0
    return this.sandbox.start([
      'download',
      ...SOAK_SYMBOLS,
      '-i',
      '15m',
      '--base-url',
      this.server.url,
      '--mirror',
      'm',
    ])
  }

  /** Starts the writer that must not get away with it. */
  naiveDownload(): Running {
    this.server.log.length = 0
    const paths = [...this.windows.keys()].join('\n')
    return startNaiveWriter(this.sandbox, ['tree', this.server.url, 'm', this.sandbox.write('paths', paths)])
  }

  /** How many files a whole mirror has. */
  get files(): number {
    return this.expected.size
  }

  /** The share of the windows that the mirror lacks. */
  left = (): number => this.missing().length / this.windows.size

  hasBegun = (): boolean => this.server.paths('windows').length > 0

  /** Looks at every file of the mirror. */
  survey(): Survey {
    const versions = (name: string) => [this.expected.get(name)].filter(bytes => bytes !== undefined)
    return survey(this.mirror, versions, name => name.startsWith('.klines-tmp/'))
  }

  clear(): void {
    rmSync(this.mirror, { recursive: true, force: true })
  }

  /** A run that is left alone brings the rest, and that alone; its export is the expected one, and no temp file is left. */
  async expectRepair(): Promise<void> {
    const missing = this.missing()
    this.server.log.length = 0
    expect(await this.repair()).toMatchObject({ code: 0, stderr: '' })
    expect(this.server.paths('windows').sort()).toEqual(missing.sort())
    expect(this.sandbox.bytes('out.csv').equals(this.csv), 'the same export').toBe(true)
    const { torn, whole, temps } = this.survey()
    expect({ torn, temps }).toEqual({ torn: [], temps: [] })
    expect(whole).toHaveLength(this.expected.size)
  }

  private missing(): string[] {
    return [...this.windows.keys()].filter(path => !existsSync(join(this.mirror, path)))
  }

  private repair(): Promise<Run> {
    mkdirSync(this.mirror, { recursive: true })
    const args = ['download', ...SOAK_SYMBOLS, '-i', '15m', '--base-url', this.server.url, '--mirror', 'm']
    return this.sandbox.run([...args, '-o', 'out.csv', '--force'])
  }
}
