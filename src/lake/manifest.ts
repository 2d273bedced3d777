import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const MANIFEST_FILE = '_klines.json'
const SCHEMA = 1

export interface LakeManifest {
  readonly options: { readonly partition: 'none' | 'year' | 'month' }
  readonly series: readonly {
    readonly symbol: string
    readonly interval: string
    readonly parts: readonly { readonly path: string }[]
  }[]
}

export type ManifestRead =
  | { readonly state: 'read'; readonly manifest: LakeManifest }
  | { readonly state: 'missing' }
  | { readonly state: 'damaged'; readonly reason: string }
  | { readonly state: 'newer'; readonly schema: number }

export function readManifest(root: string): ManifestRead {
  let text: string
  try {
    text = readFileSync(join(root, MANIFEST_FILE), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { state: 'missing' }
    throw error
  }
  try {
    const value = JSON.parse(text)
    if (value.schema > SCHEMA) return { state: 'newer', schema: value.schema }
    return Array.isArray(value.series)
      ? { state: 'read', manifest: value }
      : { state: 'damaged', reason: 'it has another form' }
  } catch {
    return { state: 'damaged', reason: 'it is not JSON' }
  }
}
