#!/usr/bin/env node
// Writes oclif.manifest.json, which tells oclif the commands without loading them: `npm run manifest` after a change.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Plugin } from '@oclif/core'

const root = fileURLToPath(new URL('..', import.meta.url))
const plugin = new Plugin({ root, ignoreManifest: true, errorOnManifestCreate: true, respectNoCacheDefault: true })
await plugin.load()
const target = process.argv[2] ?? `${root}/oclif.manifest.json`
writeFileSync(target, `${JSON.stringify(plugin.manifest, null, 2)}\n`)
