import { spawnSync } from 'node:child_process'

/** The one in the PATH may be of a version manager, which lacks the modules of the system's packages. */
const PYTHONS = ['python3', '/usr/bin/python3']

/** The path of a Python that has a module; undefined where there is none. Tests that need it are skipped then. */
export function findPython(module = 'json'): string | undefined {
  const script = `import importlib.util, sys; print(sys.executable if importlib.util.find_spec('${module}') else '')`
  for (const name of PYTHONS) {
    const { stdout } = spawnSync(name, ['-c', script], { encoding: 'utf8' })
    if (stdout?.trim()) return stdout.trim()
  }
  console.warn(`Tests in Python are skipped: no python3 with ${module} is installed.`)
  return undefined
}
