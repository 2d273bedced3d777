#!/usr/bin/env node
// Removes `dist`: files of earlier builds whose sources are gone would be published.
import { rmSync } from 'node:fs'

rmSync(new URL('../dist', import.meta.url), { recursive: true, force: true })
