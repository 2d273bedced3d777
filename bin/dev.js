#!/usr/bin/env node
// Runs the commands from the TypeScript sources: no build in between.
import { register } from 'tsx/esm/api'

register()
process.env.NODE_ENV = 'development'
const { settings } = await import('@oclif/core/settings')
settings.debug = true
await import('./run.js')
