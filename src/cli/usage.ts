/** What a usage line needs to know of an argument or a flag: `oclif.manifest.json`, classes and the parser all have it. */
interface Parameter {
  readonly required?: boolean | undefined
  readonly multiple?: boolean | undefined
  readonly hidden?: boolean | undefined
  readonly char?: string | undefined
  readonly helpValue?: string | readonly string[] | undefined
}

export type Parameters = Readonly<Record<string, Parameter>>

/** The usage of a command: `download SYMBOL... -i INTERVAL... [FLAGS]`. Optional flags have a list of their own in the help. */
export function formatUsage(id: string, args: Parameters, flags: Parameters): string {
  const required = Object.entries(flags).filter(([, flag]) => flag.required)
  const names = [
    ...Object.entries(args).map(([name, arg]) => formatArg(name, arg)),
    ...required.map(([name, flag]) => formatFlag(name, flag)),
  ]
  return [formatId(id), ...names, '[FLAGS]'].join(' ')
}

/** `mirror status` for `mirror:status`. */
export function formatId(id: string): string {
  return id.replaceAll(':', ' ')
}

/** `SYMBOL...`, `[API]` */
function formatArg(name: string, { required, multiple }: Parameter): string {
  const value = `${name.toUpperCase()}${multiple ? '...' : ''}`
  return required ? value : `[${value}]`
}

/** `-i INTERVAL...` */
function formatFlag(name: string, { char, helpValue = 'VALUE', multiple }: Parameter): string {
  return `${char ? `-${char}` : `--${name}`} ${[helpValue].flat().join(' ')}${multiple ? '...' : ''}`
}

/** Required arguments and flags without a value, such as `SYMBOL` and `-i INTERVAL`. */
export function findMissing(parsed: {
  input: { args: Parameters; flags: Parameters }
  output: { args: Readonly<Record<string, unknown>>; flags: Readonly<Record<string, unknown>> }
}): string[] {
  const { input, output } = parsed
  const isMissing =
    (values: Readonly<Record<string, unknown>>) =>
    ([name, parameter]: [string, Parameter]) =>
      parameter.required === true && values[name] === undefined
  const one = (parameter: Parameter) => ({ ...parameter, multiple: false })
  return [
    ...Object.entries(input.args)
      .filter(isMissing(output.args))
      .map(([name, arg]) => formatArg(name, one(arg))),
    ...Object.entries(input.flags)
      .filter(isMissing(output.flags))
      .map(([name, flag]) => formatFlag(name, one(flag))),
  ]
}
