import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { downloadKlines } from '../../src/engine/download.js'
import { publishMirror } from '../../src/engine/publish.js'
import { openSource } from '../../src/download/sources/open-source.js'
import { parseTreePath } from '../../src/klines/paths.js'
import { Mirror } from '../../src/mirror/mirror.js'
import { clearMirror, pruneMirror } from '../../src/mirror/prune.js'
import { failCalls } from '../support/cli/failing-fs.mjs'
import { MADE_SYMBOLS, madeMarket } from '../support/exchange/made-market.js'
import { EXCHANGE_NOW } from '../support/exchange/market.js'
import { filesBelow } from '../support/files-below.js'
import { callNumbers } from '../support/full.js'
import { PUBLISHED_INTERVALS, PUBLISHED_SYMBOLS } from '../support/published-mirror.js'
import { ExchangeServer } from '../support/servers/exchange-server.js'
import { putFile } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

type Fault = Parameters<typeof failCalls>[0][number]

/** A mirror of two series an interval that was published, and the paths of its windows. */
let published: string
let windows: string[]
let baseUrl: string

beforeAll(async () => {
  const exchange = await ExchangeServer.open(madeMarket(MADE_SYMBOLS))
  const folder = mkdtempSync(join(tmpdir(), 'klines-complete-'))
  published = join(folder, 'm')
  baseUrl = `binance:${exchange.url}`
  const request = { symbols: PUBLISHED_SYMBOLS, intervals: [...PUBLISHED_INTERVALS], baseUrl }
  await downloadKlines({ ...request, mirror: published, now: EXCHANGE_NOW })
  await publishMirror({ mirror: published, now: EXCHANGE_NOW })
  windows = filesBelow(published).filter(path => parseTreePath(path)?.kind === 'window')
  expect([isComplete(published), windows.length > 60]).toEqual([true, true])
  return async () => {
    await exchange.stop()
    rmSync(folder, { recursive: true })
  }
})

function copyMirror(): string {
  const root = join(tempFolder(), 'm')
  cpSync(published, root, { recursive: true, preserveTimestamps: true })
  return root
}

const countGone = (root: string) => windows.filter(path => !existsSync(join(root, path))).length

function isComplete(root: string): boolean {
  const meta = join(root, 'mirror.json')
  return existsSync(meta) && JSON.parse(readFileSync(meta, 'utf8')).complete
}

/** Does something while calls fail; returns its error. */
async function stopAt(faults: Fault[], action: () => unknown): Promise<Error | undefined> {
  const restore = failCalls(faults)
  try {
    await action()
    return undefined
  } catch (error) {
    return error as Error
  } finally {
    restore()
  }
}

describe('F74 a complete mirror that loses windows is not complete', () => {
  const NTH = callNumbers(60, 12)

  it.each(NTH)('mirror clear, stopped at file %i', async at => {
    const root = copyMirror()
    const stopped = await stopAt([{ call: 'unlinkSync', at, times: 1, code: 'EIO' }], () =>
      clearMirror(new Mirror(root)),
    )
    expect(stopped?.message).toContain('input/output error')
    expect([countGone(root), isComplete(root)]).toEqual([at - 1, false])
    clearMirror(new Mirror(root))
    expect(existsSync(root)).toBe(false)
  })

  it('mirror clear on a full disk, stopped half way', async () => {
    const root = copyMirror()
    const faults: Fault[] = [
      { call: 'writeSync', code: 'ENOSPC' },
      { call: 'unlinkSync', at: 5, times: 1, code: 'EIO' },
    ]
    expect((await stopAt(faults, () => clearMirror(new Mirror(root))))?.message).toContain('input/output error')
    expect([countGone(root), isComplete(root)]).toEqual([4, false])
    expect(await stopAt(faults.slice(0, 1), () => clearMirror(new Mirror(root)))).toBe(undefined)
    expect(existsSync(root)).toBe(false)
  })

  it.each(callNumbers(6, 3))('mirror prune, stopped at file %i', async at => {
    const root = copyMirror()
    const dates = JSON.parse(readFileSync(join(root, 'api/klines/start-dates/1d.json'), 'utf8'))
    putFile(root, 'api/klines/start-dates/1d.json', dates.slice(3))
    const prune = () => pruneMirror(new Mirror(root), { now: EXCHANGE_NOW })
    expect(await stopAt([{ call: 'unlinkSync', at, times: 1, code: 'EIO' }], prune)).toBeInstanceOf(Error)
    expect([countGone(root), isComplete(root)]).toEqual([at - 1, false])
    expect(prune().windows).toBe(6 - (at - 1))
  })

  it('mirror prune without a window to remove leaves it complete', () => {
    const root = copyMirror()
    putFile(root, 'api/klines/1d/BTCUSDT/stray.json', [])
    expect(pruneMirror(new Mirror(root), { now: EXCHANGE_NOW }).paths).toHaveLength(1)
    expect([countGone(root), isComplete(root)]).toEqual([0, true])
  })

  it('a download that replaces a folder in the place of a window, stopped before its file comes', async () => {
    const root = copyMirror()
    const path = 'api/klines/1d/BTCUSDT/2020-01-01.json'
    expect(windows).toContain(path)
    rmSync(join(root, path))
    mkdirSync(join(root, path))
    const source = await openSource({ baseUrl, mirror: root, now: EXCHANGE_NOW, retries: 0 })
    const window = { symbol: 'BTCUSDT', interval: '1d', startDate: '2020-01-01' } as const
    const faults: Fault[] = [
      { call: 'renameSync', path: '2020-01-01', code: 'EIO' },
      { call: 'renameSync', at: 2, code: 'EIO' },
    ]
    const stopped = await stopAt(faults, () => source.window(window))
    expect(stopped?.message).toContain('input/output error')
    expect([existsSync(join(root, path)), isComplete(root)]).toEqual([false, false])
    await source.close()
    expect(isComplete(root)).toBe(false)
    const request = { symbols: PUBLISHED_SYMBOLS, intervals: [...PUBLISHED_INTERVALS] }
    await downloadKlines({ ...request, baseUrl, mirror: root, now: EXCHANGE_NOW, retries: 0 })
    expect([countGone(root), isComplete(root)]).toEqual([0, false])
  })

  it('mirror publish finds a window that was removed by hand', async () => {
    const root = copyMirror()
    const [path] = windows.filter(name => statSync(join(root, name)).size > 2)
    rmSync(join(root, path))
    const publish = () => publishMirror({ mirror: root, now: EXCHANGE_NOW, retries: 0 })
    await expect(publish()).rejects.toMatchObject({ code: 'incomplete' })
    expect(isComplete(root)).toBe(false)
  })

  it.each(callNumbers(12, 4))('mirror publish, stopped at write %i', async at => {
    const root = copyMirror()
    const mirror = new Mirror(root)
    mirror.upkeep.giveUpCompleteness(EXCHANGE_NOW)
    const removed = windows.filter(path => path.startsWith('api/klines/12h/') && path < 'api/klines/12h/BTCUSDT/2018')
    const future = windows.filter(
      path => path > 'api/klines/1d/PEPEUSDT/2030' && path.startsWith('api/klines/1d/PEPEUSDT'),
    )
    for (const path of [...removed, ...future]) rmSync(join(root, path))
    const publish = () => publishMirror({ mirror: root, now: EXCHANGE_NOW, retries: 0 })
    const stopped = await stopAt([{ call: 'renameSync', at, times: 1, code: 'EIO' }], publish)
    expect(isComplete(root)).toBe(stopped === undefined && countGone(root) === 0)
    await publish()
    expect([countGone(root), isComplete(root)]).toEqual([0, true])
  })
})
