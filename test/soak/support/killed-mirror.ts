import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { CliSandbox, type Run, type Running } from '../../support/cli/cli-sandbox.js'
import { letAnHourPass } from '../../support/let-an-hour-pass.js'
import { tempFolder } from '../../support/temp-folder.js'
import { startNaiveWriter } from './naive-writer.js'
import { type SoakServer, type SoakSource, startSoakServer } from './soak-server.js'
import { SOAK_SYMBOLS, soakTree } from './soak-tree.js'
import { contents, type Survey, survey } from './survey.js'

/** A server of a tree, and a mirror of it whose downloads are killed. */
export class KilledMirror {
  readonly sandbox: CliSandbox
  private readonly mirror: string
  /** The bytes of every file of a complete mirror. */
  private readonly expected: Map<string, Buffer>
  private csv: Buffer = Buffer.alloc(0)

  private constructor(
    readonly server: SoakServer,
    private readonly windows: ReadonlyMap<string, Buffer>,
    folder: string,
  ) {
    this.sandbox = new CliSandbox(folder)
    this.mirror = this.sandbox.path('m')
    this.expected = new Map(windows)
  }

  /** Also completes a run, which shows what a complete mirror and its export contain. */
  static async make(source: SoakSource = 'static'): Promise<KilledMirror> {
    const [tree, folder] = [tempFolder(), tempFolder()]
    const windows = soakTree(tree)
    const server = await startSoakServer(source, tree)
    const killed = new KilledMirror(server, windows, folder)
    killed.sandbox.now = server.now
    expect(await killed.repair()).toMatchObject({ code: 0, stderr: '' })
    const files = contents(killed.mirror)
    killed.expected.set('mirror.json', files.get('mirror.json') ?? Buffer.alloc(0))
    expect([...files.keys()].sort()).toEqual([...killed.expected.keys()].sort())
    expect(killed.survey()).toMatchObject({ torn: [], temps: [] })
    killed.csv = killed.sandbox.bytes('out.csv')
    killed.clear()
    return killed
  }

  /** Starts a download of everything. */
  download(): Running {
    this.server.clear()
    return this.sandbox.start(['download', ...SOAK_SYMBOLS, '-i', '15m', ...this.server.args, '--mirror', 'm'])
  }

  /** Starts the careless writer, whose torn files the survey must find. */
  naiveDownload(): Running {
    this.server.clear()
    const paths = [...this.windows.keys()].join('\n')
    return startNaiveWriter(this.sandbox, ['tree', this.server.args[1], 'm', this.sandbox.write('paths', paths)])
  }

  /** The number of files in a complete mirror. */
  get files(): number {
    return this.expected.size
  }

  /** The share of the windows that the mirror lacks. */
  left = (): number => this.missing().length / this.windows.size

  hasBegun = (): boolean => this.server.windows().length > 0

  /** Checks every file of the mirror. */
  survey(): Survey {
    const versions = (name: string) => {
      const bytes = this.expected.get(name)
      return bytes === undefined ? [] : [bytes]
    }
    return survey(this.mirror, versions, name => name.startsWith('.klines-tmp/'))
  }

  clear(): void {
    rmSync(this.mirror, { recursive: true, force: true })
  }

  /** Expects that a run downloads only the missing windows, exports the expected file and leaves no temp file. */
  async expectRepair(): Promise<void> {
    // A run that has nothing to write removes no temp file either.
    for (const path of [...this.windows.keys()].slice(0, 1)) rmSync(join(this.mirror, path), { force: true })
    const missing = this.missing()
    this.server.clear()
    expect(await this.repair()).toMatchObject({ code: 0, stderr: '' })
    expect(this.server.windows().sort()).toEqual(missing.sort())
    expect(this.sandbox.bytes('out.csv').equals(this.csv), 'the same export').toBe(true)
    const { torn, whole, temps } = this.survey()
    expect({ torn, temps }).toEqual({ torn: [], temps: [] })
    expect(whole).toHaveLength(this.expected.size)
    for (const [name, bytes] of this.expected)
      expect(this.sandbox.bytes(join('m', name)).equals(bytes), name).toBe(true)
  }

  private missing(): string[] {
    return [...this.windows.keys()].filter(path => !existsSync(join(this.mirror, path)))
  }

  private repair(): Promise<Run> {
    mkdirSync(this.mirror, { recursive: true })
    letAnHourPass(this.sandbox.folder)
    const args = ['download', ...SOAK_SYMBOLS, '-i', '15m', ...this.server.args, '--mirror', 'm']
    return this.sandbox.run([...args, '-o', 'out.csv', '--force'])
  }
}
