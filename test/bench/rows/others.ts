import { mkdirSync, writeFileSync } from 'node:fs'
import { realTree } from '../../support/oracles/real-tree.js'
import { type Build, klines, node, peer, run } from '../programs.js'
import type { Peer, Row } from '../row.js'
import { fresh, path, SYMBOLS, seriesFiles, writeList } from '../slice.js'
import type { TreeServer } from '../tree-server.js'

/** Verification, short commands and downloads of the slice from a server. */
export function otherRows(server: TreeServer): Row[] {
  const list = writeList('all.json', seriesFiles(undefined, { empty: true }))
  return [
    {
      name: 'verify',
      title: 'verify of all',
      klines: ({ name, folder }) => ({
        name,
        run: () => run(klines({ name, folder }, 'verify', 'all', '-i', 'all', '--mirror', realTree(), '-q')),
      }),
      peers: [
        { name: 'python3, parsing', program: 'python3', run: () => run(peer('parse-windows.py', list)), most: 1 },
      ],
      limits: { mb: 90 },
    },
    againRow(server),
    {
      name: 'help',
      title: 'symbols --help',
      runsPerRound: 3,
      klines: build => ({ name: build.name, run: () => run(klines(build, 'symbols', '--help')) }),
      peers: [{ name: 'node -e 0', run: () => run(node('-e', '0')), most: 2.3 }],
    },
    {
      name: 'chart',
      title: 'chart BTCUSDT -i 1d',
      runsPerRound: 2,
      klines: build => ({
        name: build.name,
        run: async () => {
          const from = ['--mirror', await mirrorOf(build, server), '--base-url', server.url]
          return run(klines(build, 'chart', 'BTCUSDT', '-i', '1d', ...from))
        },
      }),
      limits: { ms: 500 },
    },
    downloadRow(server),
  ]
}

/** A download into a mirror that has everything. */
function againRow(server: TreeServer): Row {
  return {
    name: 'again',
    title: 'download of all with nothing new',
    klines: build => ({
      name: build.name,
      run: async () => {
        const mirror = await mirrorOf(build, server)
        const before = server.bodies()
        const usage = await run(download(build, server, mirror))
        // The lists of symbols and of start dates.
        if (server.bodies() - before > 13) throw new Error(`${build.name} downloads windows again`)
        return usage
      },
    }),
    limits: { ms: 400 },
  }
}

/** A download into an empty mirror. curl gets the windows that have candles, from a list that is made beforehand. */
function downloadRow(server: TreeServer): Row {
  const files = seriesFiles().flatMap(one => one.files.map(file => file.slice(realTree().length)))
  const entries = files.map(file => `url = "${server.url}${file}"\noutput = "${file.replaceAll('/', '-')}"\n`)
  writeFileSync(path('curl.txt'), entries.join(''))
  const curl: Peer = {
    name: 'curl',
    program: 'curl',
    run: () => {
      const folder = fresh('curl')
      mkdirSync(folder)
      // `--disable` must come first: it makes curl ignore the user's settings.
      const flags = ['--disable', '--silent', '--fail', '--parallel', '--parallel-max', '16', '--compressed']
      return run({ program: 'curl', args: [...flags, '--output-dir', folder, '--config', path('curl.txt')] })
    },
  }
  return {
    name: 'download',
    title: 'download of all',
    klines: build => ({
      name: build.name,
      run: () => run(download(build, server, fresh(`${build.name}-download`))),
    }),
    peers: [curl],
  }
}

const mirrors = new Map<Build, Promise<string>>()

/** A mirror of the slice that a build has downloaded itself, once. */
function mirrorOf(build: Build, server: TreeServer): Promise<string> {
  const make = async () => {
    const mirror = path(`${build.name}-mirror`)
    await run(download(build, server, mirror))
    return mirror
  }
  const made = mirrors.get(build) ?? make()
  mirrors.set(build, made)
  return made
}

function download(build: Build, { url }: TreeServer, mirror: string) {
  return klines(build, 'download', ...SYMBOLS, '-i', 'all', '--base-url', url, '--mirror', mirror, '-q')
}
