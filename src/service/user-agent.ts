import { readFileSync } from 'node:fs'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

/** This tool's version. */
export const VERSION = version

/** How requests name this tool (RFC 9110, 10.1.5). */
export const USER_AGENT = `klines/${version} node/${process.versions.node}`
