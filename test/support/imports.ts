import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** One module named by another, as it is written. */
export interface Import {
  readonly specifier: string
  readonly kind: 'static' | 'type' | 'dynamic'
}

/** Every import and re-export in the text of a module. */
export function importsIn(text: string): Import[] {
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

/** The sources of the project, relative to its root. */
export function sourceFiles(): string[] {
  return readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts'))
    .map(name => join('src', name))
    .toSorted()
}

/** One import of one source file; `target` is the file it names when that is one of ours. */
export interface Edge extends Import {
  readonly from: string
  readonly target: string | undefined
}

export function edges(): Edge[] {
  return sourceFiles().flatMap(from =>
    importsIn(readFileSync(join(ROOT, from), 'utf8')).map(one => {
      const ours = one.specifier.startsWith('.')
      const target = ours ? normalize(join(dirname(from), one.specifier)).replace(/(\.[jt]s)?$/, '.ts') : undefined
      return { ...one, from, target }
    }),
  )
}

/** The packages that load as soon as a source file does. */
export function packagesLoadedBy(all: readonly Edge[], file: string): string[] {
  const loaded = new Set([file])
  const packages = new Set<string>()
  for (const from of loaded) {
    for (const edge of all) {
      if (edge.from !== from || edge.kind !== 'static') continue
      if (edge.target) loaded.add(edge.target)
      else packages.add(edge.specifier)
    }
  }
  return [...packages]
}
