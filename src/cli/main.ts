// What bin/run.js starts: oclif's runner, bundled with the commands so that both share one copy of it.
export { run } from '@oclif/core/run'
