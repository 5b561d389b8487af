import { fileURLToPath } from 'node:url'
import { relative } from 'node:path'
import ts from 'typescript'

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))

/** An exported function of a file that ends in `rows.ts` and that gets a database. */
export interface RowsFunction {
  /** The path below `src`, such as `work/tasks/rows.ts`. */
  file: string
  name: string
  /** The tables that its file names: what a call can change. */
  tables: string[]
  addsRows: boolean
  /** Arguments for a call in this world (`seeded-store.ts`). `db` stands for the database. */
  argumentsFor(world: number, db: unknown): unknown[]
}

/** Columns of every table, as the types of `tables.ts` declare them. */
export type TableColumns = Map<string, ColumnType[]>
export interface ColumnType {
  name: string
  valueFor: (world: number, key: string) => unknown
}

/** Reads the types of the source, so that a new function is called without a line here. */
export function readRowsFunctions(files: readonly string[]): { functions: RowsFunction[]; columns: TableColumns } {
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(`${ROOT}tsconfig.json`, (path) => ts.sys.readFile(path)).config,
    ts.sys,
    ROOT,
  )
  const tablesFile = `${ROOT}src/platform/store/tables.ts`
  const program = ts.createProgram([tablesFile, ...files], options)
  const types = new SampleValues(program.getTypeChecker())
  const columns = types.readTables(program.getSourceFile(tablesFile))
  const functions = files.flatMap((file) => {
    const source = program.getSourceFile(file)
    if (!source) throw new Error(`${file} is not in the program`)
    const tables = [...columns.keys()].filter((table) => new RegExp(`'${table}\\b`).test(source.text))
    return types.functionsOf(source).map((found) => ({ ...found, file: relative(`${ROOT}src`, file), tables }))
  })
  return { functions, columns }
}

/** A value that is the same in all rows and arguments, so that every condition on an id finds a row. */
export const SAMPLE_KEY = 'k1'
const MINUTE_MS = 60_000
/** Everything has happened at this time. */
const SAMPLE_TIME = Date.now() - 10 * MINUTE_MS
/** Then what is due is past, and what expires is still valid. */
const NOW = SAMPLE_TIME + MINUTE_MS
const EXPIRY = NOW + MINUTE_MS
const DAY_LENGTH = 10

const ADDS_ROWS = /insertInto|createBulkInsert/

/** What the types do not say: the columns that have few values, and the JSON texts that have a shape. */
const KNOWN_VALUES: Record<string, readonly string[]> = {
  status: ['queued', 'pending', 'running', 'succeeded'],
  role: ['owner'],
  wedges: ['["k1"]'],
  envelope: ['{}'],
}

class SampleValues {
  readonly #checker: ts.TypeChecker
  readonly #textKinds = new Map<string, string>()

  constructor(checker: ts.TypeChecker) {
    this.#checker = checker
  }

  readTables(source: ts.SourceFile | undefined): TableColumns {
    const tables = source && this.#checker.getExportsOfModule(this.#checker.getSymbolAtLocation(source) as ts.Symbol)
    const symbol = tables?.find(({ name }) => name === 'Tables')
    if (!symbol) throw new Error('tables.ts has no interface Tables')
    return new Map(
      this.#checker
        .getDeclaredTypeOfSymbol(symbol)
        .getProperties()
        .map((table) => {
          const columns = this.#checker.getTypeOfSymbol(table).getProperties()
          for (const column of columns) this.#textKinds.set(column.name, declaredKind(column))
          return [table.name, columns.map((column) => this.#toColumn(column))]
        }),
    )
  }

  #toColumn(column: ts.Symbol): ColumnType {
    const type = this.#checker.getTypeOfSymbol(column)
    return {
      name: column.name,
      valueFor: (world, key) => this.#valueOf(type, { world, name: column.name, kind: declaredKind(column), key }),
    }
  }

  functionsOf(source: ts.SourceFile): Omit<RowsFunction, 'file' | 'tables'>[] {
    const module = this.#checker.getSymbolAtLocation(source)
    return (module ? this.#checker.getExportsOfModule(module) : []).flatMap((symbol) => {
      const declaration = symbol.valueDeclaration
      const parameters = declaration ? this.#parametersOf(symbol, declaration) : []
      const [first, ...others] = parameters
      if (!declaration || !first || !this.#isDatabase(first.type)) return []
      return [
        {
          name: symbol.name,
          addsRows: ADDS_ROWS.test(declaration.getText()) || /^(insert|append)/.test(symbol.name),
          argumentsFor: (world: number, db: unknown) => [
            db,
            ...others.map(({ name, kind, type }) => this.#valueOf(type, { world, name, kind, key: SAMPLE_KEY })),
          ],
        },
      ]
    })
  }

  /** Reads the declared types where it can: inferring the type of a prepared query takes as long as checking its text. */
  #parametersOf(symbol: ts.Symbol, declaration: ts.Declaration): Parameter[] {
    if (ts.isFunctionDeclaration(declaration)) {
      return declaration.parameters.map((one) => ({
        name: one.name.getText(),
        kind: one.type?.getText() ?? 'string',
        type: this.#checker.getTypeAtLocation(one),
      }))
    }
    const call = ts.isVariableDeclaration(declaration) ? declaration.initializer : undefined
    const [args] = call && ts.isCallExpression(call) ? (call.typeArguments ?? []) : []
    if (args && call?.getText().startsWith('prepare')) {
      return [DATABASE, { name: 'args', kind: 'object', type: this.#checker.getTypeFromTypeNode(args) }]
    }
    const [signature] = this.#checker.getTypeOfSymbol(symbol).getCallSignatures()
    return (signature?.parameters ?? []).map((one) => ({
      name: one.name,
      kind: declaredKind(one),
      type: this.#checker.getTypeOfSymbol(one),
    }))
  }

  #isDatabase(type: ts.Type | 'database'): boolean {
    return type === 'database' || /^(Db|Kysely<Tables>)$/.test(this.#checker.typeToString(type))
  }

  #argument(symbol: ts.Symbol, world: number): unknown {
    const type = this.#checker.getTypeOfSymbol(symbol)
    return this.#valueOf(type, { world, name: symbol.name, kind: declaredKind(symbol), key: SAMPLE_KEY })
  }

  #valueOf(type: ts.Type | 'database', place: Place): unknown {
    if (type === 'database') throw new Error('only the first parameter is a database')
    const checker = this.#checker
    if (type.isUnion()) return this.#valueOfUnion(type, place)
    if (type.isStringLiteral() || type.isNumberLiteral()) return type.value
    if (type.flags & ts.TypeFlags.BooleanLiteral) return checker.typeToString(type) === 'true'
    if (type.flags & ts.TypeFlags.Null) return null
    if (type.flags & ts.TypeFlags.Undefined) return undefined
    if (type.flags & ts.TypeFlags.StringLike) return this.#text(place)
    if (type.flags & ts.TypeFlags.NumberLike) return numberFor(place)
    if (type.flags & (ts.TypeFlags.Unknown | ts.TypeFlags.Any)) return SAMPLE_KEY
    if (checker.isArrayType(type)) return this.#elements(type, place).slice(0, 1)
    if (checker.isTupleType(type)) return this.#elements(type, place)
    return this.#valueOfObject(type, place)
  }

  /** Odd worlds take the empty values, and each world takes another one of the full ones. */
  #valueOfUnion(type: ts.UnionType, place: Place): unknown {
    const isEmpty = (one: ts.Type) => Boolean(one.flags & (ts.TypeFlags.Null | ts.TypeFlags.Undefined))
    const empty = type.types.filter(isEmpty)
    const full = type.types.filter((one) => !isEmpty(one))
    const options = empty.length > 0 && place.world % 2 === 1 ? empty : full
    return this.#valueOf(options[Math.floor(place.world / 2) % options.length] as ts.Type, place)
  }

  #elements(type: ts.Type, place: Place): unknown[] {
    return this.#checker.getTypeArguments(type as ts.TypeReference).map((one) => this.#valueOf(one, place))
  }

  #valueOfObject(type: ts.Type, place: Place): unknown {
    const name = type.symbol?.name
    if (name === 'Set' || name === 'ReadonlySet') return new Set(this.#elements(type, place))
    if (name === 'Map' || name === 'ReadonlyMap') return new Map([this.#elements(type, place) as [unknown, unknown]])
    if (type.getCallSignatures().length > 0) return () => true
    const index = type.getStringIndexType()
    const entries = type.getProperties().map((property) => [property.name, this.#argument(property, place.world)])
    if (index) entries.push([SAMPLE_KEY, this.#valueOf(index, place)])
    // An absent field differs from one with the value undefined.
    return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
  }

  #text({ world, name, kind, key }: Place): string {
    const column = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    const known = KNOWN_VALUES[column]
    if (known) return known[world % known.length] ?? ''
    const declared = kind === 'string' ? this.#textKinds.get(column) : kind
    if (declared === 'JsonText') return '{}'
    if (declared === 'Day' || /day/.test(column)) return timeFor(column).slice(0, DAY_LENGTH)
    return declared === 'IsoTime' || TIME_NAME.test(column) ? timeFor(column) : key
  }
}

const TIME_NAME = /(_at|until|since|before|after|now|time|ts|window_start|expiry)$/

function timeFor(name: string): string {
  if (/expires|until$/.test(name)) return new Date(EXPIRY).toISOString()
  return new Date(/^(now|before|at)$/.test(name) ? NOW : SAMPLE_TIME).toISOString()
}

interface Parameter {
  name: string
  kind: string
  type: ts.Type | 'database'
}

const DATABASE: Parameter = { name: 'db', kind: 'Db', type: 'database' }

/** Where a value is needed: `name` is that of the column or parameter, and `kind` the declared type. */
interface Place {
  world: number
  name: string
  kind: string
  key: string
}

function declaredKind(symbol: ts.Symbol): string {
  const declaration = symbol.valueDeclaration
  if (!declaration || !(ts.isPropertySignature(declaration) || ts.isParameter(declaration))) return 'string'
  return declaration.type?.getText().replace(/ \| null$/, '') ?? 'string'
}

const numberFor = ({ name }: Place): number => (/limit|max|count/.test(name) ? 10 : 1)
