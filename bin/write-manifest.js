#!/usr/bin/env node
// Writes oclif.manifest.json, which tells oclif the commands without loading them: `npm run manifest` after a change.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Plugin } from '@oclif/core'

const root = fileURLToPath(new URL('..', import.meta.url))
const plugin = new Plugin({ root, ignoreManifest: true, errorOnManifestCreate: true, respectNoCacheDefault: true })
await plugin.load()
const target = process.argv[2] ?? `${root}/oclif.manifest.json`
// Commands come in the order in which their files were found, which differs from run to run.
const commands = Object.fromEntries(Object.entries(plugin.manifest.commands).sort(([a], [b]) => (a < b ? -1 : 1)))
writeFileSync(target, `${JSON.stringify({ ...plugin.manifest, commands }, null, 2)}\n`)
