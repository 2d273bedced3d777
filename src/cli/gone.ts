/** A command, an argument or a flag of earlier versions, and what to do instead. */
interface Gone {
  /** `show`, `mirror list`, `--watch`; `update PATH` for an argument. */
  readonly name: string
  /** The only command that had this flag. */
  readonly command?: string
  /** A sentence. */
  readonly instead: string
}

export const GONE: readonly Gone[] = [
  { name: '--data', command: 'users update', instead: 'Name fields with --email, --name, --age and --notify.' },
  { name: '--series', instead: 'Name the file by its series, such as BTCUSDT-1h.csv.' },
  {
    name: '--derive',
    instead: 'Name the interval to make candles of, and their length: -i 1h --resample 3h.',
  },
  {
    name: 'show',
    instead:
      'Use klines verify SYMBOL -i INTERVAL --from TIME --to TIME -v, which prints at most 20 candles cell by cell.',
  },
  ...['--table', '--vacuum'].map(name => {
    return {
      name,
      instead: 'A lake is plain Parquet files, which engines read as one table: lake/_README.md says how.',
    }
  }),
  {
    name: 'sql',
    instead:
      'DuckDB reads a lake: duckdb -init lake/_views.sql; klines export all -i all --layout hive -o lake makes it.',
  },
  {
    name: 'update PATH',
    instead: 'Run the klines export or klines download that made it again: it writes only what changed.',
  },
  {
    name: '--accept-list',
    instead: 'A list that lacks known entries is exit code 3: try again when the service has all of it.',
  },
  {
    name: '--fail-on-restated',
    instead:
      'Changed cells are printed and kept in changes.jsonl; klines download --lock FILE fails for other candles.',
  },
  ...['--format=svg', '--theme', '--width', '--height', '--log'].map(name => {
    return { name, instead: 'Pictures are drawn by klines chart SYMBOL -i INTERVAL -o x.svg, which has these flags.' }
  }),
  { name: 'mirror list', instead: 'klines mirror shows all mirrors.' },
  { name: 'mirror status', instead: 'klines mirror shows it.' },
  { name: 'mirror path', instead: 'klines mirror --path prints the folder.' },
  { name: 'mirror verify', instead: 'klines verify names corrupt files, and klines download replaces them.' },
  { name: 'mirror prune', instead: 'Left temporary files go by themselves; remove the folder of a series by hand.' },
  { name: 'mirror clear', instead: 'Remove the folder that klines mirror --path prints.' },
  { name: 'mirror changes', instead: 'They stand in changes.jsonl, in the folder that klines mirror --path prints.' },
  { name: 'config path', instead: 'klines config shows the path of your file.' },
  {
    name: '--local',
    instead:
      'A folder has no config file: set variables there (KLINES_INTERVAL=1h), or your own defaults without --local.',
  },
  {
    name: '--resample',
    command: 'lock',
    instead: 'Lock what the candles are made of: any program makes the same ones of it.',
  },
  ...['ranges', 'formats', 'mirrors', 'lakes', 'exit-codes'].map(topic => {
    return { name: `help ${topic}`, instead: 'The package explains it in src/docs/reference.md.' }
  }),
  ...['--audit', '--no-audit'].map(name => {
    return { name, command: 'verify', instead: 'Candles are always compared with those of finer intervals.' }
  }),
  ...['intervals', 'start-dates'].map(command => {
    return { name: '--all', command, instead: 'Lists end with today: windows that start later are empty.' }
  }),
  { name: '--max-rate', instead: '--concurrency 1 sends one request at a time.' },
  { name: '--mkdir', instead: 'Missing folders are made.' },
  { name: '--progress', instead: 'It is a bar at a terminal and a line every 15 s elsewhere; -q shows none.' },
  { name: '--open', command: 'serve', instead: 'The first line is the address to open in a browser.' },
  { name: '--strict', command: 'serve', instead: 'The greeting API accepts every documented value.' },
  { name: '--yes', instead: 'Nothing asks any more, so leave it out.' },
  { name: '--watch', command: 'chart', instead: 'Run the command again, such as with watch(1).' },
]

/** The sentence for the words of a command that is gone, such as `['mirror', 'list', 'x']`. */
export function goneCommand(words: readonly string[]): string | undefined {
  const typed = `${words.join(' ')} `
  return describeGone(GONE.find(({ name }) => !name.startsWith('-') && typed.startsWith(`${name} `)))
}

/** The sentence for a flag (`--watch`) that is gone; without `command`, of any. */
export function goneFlag(flag: string, command?: string | undefined): string | undefined {
  return describeGone(GONE.find(gone => gone.name === flag && (!command || !gone.command || gone.command === command)))
}

/** The sentence for an argument that a command no longer takes: its name ends in a word in capitals. */
export function goneArgument(command: string): string | undefined {
  return describeGone(
    GONE.find(({ name }) => /^[A-Z]+$/.test(name.slice(command.length + 1)) && name.startsWith(command)),
  )
}

function describeGone(gone: Gone | undefined): string | undefined {
  return gone && `${gone.name} is gone. ${gone.instead}`
}
