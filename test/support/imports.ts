import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** An import as written in a module. */
export interface Import {
  readonly specifier: string
  readonly kind: 'static' | 'type' | 'dynamic'
}

/** Finds every import and re-export in the text of a module. */
export function findImports(text: string): Import[] {
  const imports: Import[] = []
  const add = (node: ts.Node | undefined, kind: Import['kind']) => {
    if (node && ts.isStringLiteralLike(node)) imports.push({ specifier: node.text, kind })
  }
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, node.importClause?.isTypeOnly ? 'type' : 'static')
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly ? 'type' : 'static')
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal, 'type')
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node.arguments[0], 'dynamic')
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile('module.ts', text, ts.ScriptTarget.Latest))
  return imports
}

/** The source files of the project, relative to its root. */
export function sourceFiles(): string[] {
  return readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts'))
    .map(name => join('src', name))
    .toSorted()
}

/** An import of a source file; `target` is the imported source file, undefined for a package. */
export interface Edge extends Import {
  readonly from: string
  readonly target: string | undefined
}

export function findEdges(): Edge[] {
  return sourceFiles().flatMap(from =>
    findImports(readFileSync(join(ROOT, from), 'utf8')).map(entry => {
      const isRelative = entry.specifier.startsWith('.')
      const target = isRelative
        ? normalize(join(dirname(from), entry.specifier)).replace(/(\.[jt]s)?$/, '.ts')
        : undefined
      return { ...entry, from, target }
    }),
  )
}

/** A source file and those that it needs, by imports of any kind, also of types. */
export function filesOf(all: readonly Edge[], file: string): string[] {
  return [...follow(all, file, ['static', 'type', 'dynamic']).files]
}

/** The packages that load as soon as a source file does. */
export function packagesLoadedBy(all: readonly Edge[], file: string): string[] {
  return [...follow(all, file, ['static']).packages]
}

function follow(all: readonly Edge[], file: string, kinds: readonly Import['kind'][]) {
  const [files, packages] = [new Set([file]), new Set<string>()]
  for (const from of files) {
    for (const edge of all) {
      if (edge.from !== from || !kinds.includes(edge.kind)) continue
      if (edge.target) files.add(edge.target)
      else packages.add(edge.specifier)
    }
  }
  return { files, packages }
}

/** The files of one import cycle, the first one again at its end; undefined when there is none. */
export function findCycle(all: readonly Edge[]): string[] | undefined {
  const targets = new Map<string, string[]>()
  for (const { from, target } of all) if (target) targets.set(from, [...(targets.get(from) ?? []), target])
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    if (done.has(file)) return undefined
    for (const target of targets.get(file) ?? []) {
      const cycle = visit(target, [...path, file])
      if (cycle) return cycle
    }
    done.add(file)
    return undefined
  }
  for (const file of targets.keys()) {
    const cycle = visit(file, [])
    if (cycle) return cycle
  }
  return undefined
}
