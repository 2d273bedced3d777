#!/usr/bin/env node
// Runs the commands from the TypeScript sources: no build in between.
import { join } from 'node:path'
import { register } from 'tsx/esm/api'

register()
const { run } = await import('../src/main.ts')
await run(process.argv.slice(2), join(import.meta.dirname, '..'))
