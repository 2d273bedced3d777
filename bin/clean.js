#!/usr/bin/env node
// Takes away what earlier builds have made: what is left of files that are no more would be published.
import { rmSync } from 'node:fs'

rmSync(new URL('../dist', import.meta.url), { recursive: true, force: true })
