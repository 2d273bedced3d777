import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseObject } from '../candles/json.js'
import { tempName } from '../fs/files.js'
import { findUserFolder } from '../fs/folders.js'

/** The file that says until when hosts have banned this address; undefined for a user without a cache folder. */
export function banFile(): string | undefined {
  const folder = findUserFolder('cache')
  return folder && join(folder, 'bans.json')
}

/** Until when a host bans this address, as an earlier run was told, ms UTC; undefined without a ban. */
export function bannedUntil(origin: string, now: number): number | undefined {
  const time = Date.parse(String(readBans()[origin]))
  return time > now ? time : undefined
}

/** Remembers a ban for other runs. Where that fails, this run alone knows of it. */
export function rememberBan(origin: string, untilTime: number): void {
  const path = banFile()
  if (path === undefined) return
  try {
    mkdirSync(dirname(path), { recursive: true })
    const temp = join(dirname(path), `.${tempName()}`)
    writeFileSync(temp, `${JSON.stringify({ ...readBans(), [origin]: new Date(untilTime).toISOString() })}\n`)
    renameSync(temp, path)
  } catch {}
}

function readBans(): Readonly<Record<string, unknown>> {
  try {
    return parseObject(readFileSync(banFile() ?? '', 'utf8')) ?? {}
  } catch {
    return {}
  }
}
