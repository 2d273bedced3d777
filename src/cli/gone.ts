const DRAWN = 'Pictures are drawn by klines chart SYMBOL -i INTERVAL -o x.svg, which has these flags.'
const LAKE = 'A lake is plain Parquet files, which engines read as one table: lake/_README.md says how.'
const PAGE = 'The package explains it in src/docs/reference.md.'
const AUDIT = 'Candles are always compared with those of finer intervals.'
const LISTS = 'Lists end with today: windows that start later are empty.'

/**
 * What earlier versions had, and what to do instead: a command, a flag, a flag of one command, or an argument in capitals that a command
 * no longer takes.
 */
const GONE: Readonly<Record<string, string>> = {
  show: 'Use klines verify SYMBOL -i INTERVAL --from TIME --to TIME -v, which prints at most 20 candles cell by cell.',
  sql: 'DuckDB reads a lake: duckdb -init lake/_views.sql; klines export all -i all --layout hive -o lake makes it.',
  'update PATH': 'Run the klines export or klines download that made it again: it writes only what changed.',
  'mirror list': 'klines mirror shows all mirrors.',
  'mirror status': 'klines mirror shows it.',
  'mirror path': 'klines mirror --path prints the folder.',
  'mirror verify': 'klines verify names corrupt files, and klines download replaces them.',
  'mirror prune': 'Left temporary files go by themselves; remove the folder of a series by hand.',
  'mirror clear': 'Remove the folder that klines mirror --path prints.',
  'mirror changes': 'They stand in changes.jsonl, in the folder that klines mirror --path prints.',
  'config path': 'klines config shows the path of your file.',
  ...Object.fromEntries(['ranges', 'formats', 'mirrors', 'lakes', 'exit-codes'].map(topic => [`help ${topic}`, PAGE])),
  'users update --data': 'Name fields with --email, --name, --age and --notify.',
  '--series': 'Name the file by its series, such as BTCUSDT-1h.csv.',
  '--derive': 'Name the interval to make candles of, and their length: -i 1h --resample 3h.',
  '--table': LAKE,
  '--vacuum': LAKE,
  '--accept-list': 'A list that lacks known entries is exit code 3: try again when the service has all of it.',
  '--fail-on-restated':
    'Changed cells are printed and kept in changes.jsonl; klines download --lock FILE fails for other candles.',
  '--format=svg': DRAWN,
  '--theme': DRAWN,
  '--width': DRAWN,
  '--height': DRAWN,
  '--log': DRAWN,
  '--local':
    'A folder has no config file: set variables there (KLINES_INTERVAL=1h), or your own defaults without --local.',
  'lock --resample': 'Lock what the candles are made of: any program makes the same ones of it.',
  'verify --audit': AUDIT,
  'verify --no-audit': AUDIT,
  'intervals --all': LISTS,
  'start-dates --all': LISTS,
  '--max-rate': '--concurrency 1 sends one request at a time.',
  '--mkdir': 'Missing folders are made.',
  '--progress': 'It is a bar at a terminal and a line every 15 s elsewhere; -q shows none.',
  'serve --open': 'The first line is the address to open in a browser.',
  'serve --strict': 'The greeting API accepts every documented value.',
  '--yes': 'Nothing asks any more, so leave it out.',
  'chart --watch': 'Run the command again, such as with watch(1).',
}

/** The sentence for the words of a command that is gone, such as `['mirror', 'list', 'x']`. */
export function goneCommand(words: readonly string[]): string | undefined {
  const typed = `${words.join(' ')} `
  const name = Object.keys(GONE).find(name => !name.includes('--') && typed.startsWith(`${name} `))
  return name && `${name} is gone. ${GONE[name]}`
}

/** The sentence for a flag (`--watch`) that is gone; without `command`, of any. */
export function goneFlag(flag: string, command?: string): string | undefined {
  const isMeant = (name: string) =>
    name === flag || (command ? name === `${command} ${flag}` : name.endsWith(` ${flag}`))
  const name = Object.keys(GONE).find(isMeant)
  return name && `${flag} is gone. ${GONE[name]}`
}

/** The sentence for an argument that a command no longer takes: its name ends in a word in capitals. */
export function goneArgument(command: string): string | undefined {
  const name = Object.keys(GONE).find(
    name => name.startsWith(`${command} `) && /^[A-Z]+$/.test(name.slice(command.length + 1)),
  )
  return name && `${name} is gone. ${GONE[name]}`
}
