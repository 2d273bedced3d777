import { cpSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { downloadKlines } from '../../src/download/download.js'
import { downloadSetup, readJson } from '../support/download-setup.js'

describe('a folder of candles without mirror.json', () => {
  it('becomes a mirror of the base URL of the first download, with a warning', async () => {
    const { tree, server, mirror, warnings, request } = await downloadSetup()
    cpSync(join(tree, 'api'), join(mirror, 'api'), { recursive: true, preserveTimestamps: true })
    await downloadKlines(request)
    expect(readJson(mirror, 'mirror.json')).toMatchObject({ baseUrl: server.url })
    expect(warnings).toEqual([expect.stringContaining(`from now on it is a mirror of ${server.url}`)])
  })

  it('is never mixed with the synthetic sample data', async () => {
    const { tree, server, mirror, request } = await downloadSetup()
    cpSync(join(tree, 'api'), join(mirror, 'api'), { recursive: true, preserveTimestamps: true })
    const sample = { name: 'sample', url: server.url }
    await expect(downloadKlines({ ...request, baseUrl: sample })).rejects.toMatchObject({ code: 'mirror_mismatch' })
    expect(existsSync(join(mirror, 'mirror.json'))).toBe(false)
    expect(server.log).toEqual([])
  })
})
