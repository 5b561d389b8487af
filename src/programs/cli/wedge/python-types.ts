import type { SchemaShape, ShapeField } from './schema-shape.ts'

const SCALARS = { string: 'str', number: 'float', integer: 'int', boolean: 'bool', null: 'None' }

const KEYWORDS =
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  )

/**
 * The declarations of a named type: its inner objects first, each with a name of its own that is not among `usedNames` and
 * is added to them.
 */
export function toPythonDeclarations(name: string, shape: SchemaShape, usedNames: Set<string>): string[] {
  const declarations = new Declarations(usedNames)
  if (shape.kind === 'object') {
    declarations.addClass(name, shape.fields)
    return declarations.texts
  }
  const type = declarations.toPython(shape, name)
  return [...declarations.texts, `${name}: TypeAlias = ${JSON.stringify(type)}`]
}

class Declarations {
  readonly texts: string[] = []
  readonly #usedNames: Set<string>

  constructor(usedNames: Set<string>) {
    this.#usedNames = usedNames
  }

  addClass(name: string, fields: ShapeField[]): void {
    const lines = fields.map((field) => ({ ...field, type: this.#fieldType(name, field) }))
    const body = fields.every((field) => isClassField(field.name))
      ? `class ${name}(TypedDict):\n${lines.map((line) => classField(line.name, line.type, line.description)).join('\n')}`
      : `${name} = TypedDict(\n    "${name}",\n    {\n${lines.map((line) => `        ${JSON.stringify(line.name)}: ${JSON.stringify(line.type)},`).join('\n')}\n    },\n)`
    this.texts.push(body)
  }

  /** A shape as a type. Objects inside it are declared as classes named `name`. */
  toPython(shape: SchemaShape, name: string): string {
    switch (shape.kind) {
      case 'named':
        return shape.name
      case 'literal':
        return literalType(shape.value)
      case 'scalar':
        return SCALARS[shape.type]
      case 'array':
        return `list[${this.toPython(shape.items, `${name}Item`)}]`
      case 'map':
        return `dict[str, ${this.toPython(shape.values, `${name}Value`)}]`
      case 'object':
        return this.#declareInner(name, shape.fields)
      case 'union':
        return this.#unionType(shape.of, name)
      default:
        return 'Any'
    }
  }

  #declareInner(wanted: string, fields: ShapeField[]): string {
    const name = reserveName(wanted, this.#usedNames)
    this.addClass(name, fields)
    return name
  }

  #fieldType(parent: string, { name, isRequired, shape }: ShapeField): string {
    const type = this.toPython(shape, parent + toTypeName(name))
    return isRequired ? type : `NotRequired[${type}]`
  }

  #unionType(shapes: SchemaShape[], name: string): string {
    const types = shapes.map((shape) => this.toPython(shape, name))
    const literals = types.flatMap((type) => /^Literal\[(.*)\]$/.exec(type)?.[1] ?? [])
    const others = types.filter((type) => !type.startsWith('Literal['))
    return [...new Set([...(literals.length > 0 ? [`Literal[${literals.join(', ')}]`] : []), ...others])].join(' | ')
  }
}

/** Python changes the names of fields that begin with two underscores. */
const isClassField = (name: string) => /^(?!__)[A-Za-z_]\w*$/.test(name) && !KEYWORDS.includes(name)

function classField(name: string, type: string, description: string | undefined): string {
  const comment = description === undefined ? '' : `    # ${description.replace(/\s+/g, ' ').trim()}\n`
  return `${comment}    ${name}: ${type}`
}

/** Python has no literal type for a number with a fraction. */
function literalType(value: string | number | boolean | null): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'Literal[True]' : 'Literal[False]'
  return typeof value === 'number' && !Number.isInteger(value) ? 'float' : `Literal[${JSON.stringify(value)}]`
}

/** `customer_email` and `customer-email` become `CustomerEmail`. */
export function toTypeName(name: string): string {
  const parts = name.split(/[^A-Za-z0-9]+/).filter((part) => part !== '')
  return parts.map((part) => part.charAt(0).toUpperCase() + part.slice(1)).join('')
}

/** The name, with a number if it is used already. */
export function reserveName(wanted: string, usedNames: Set<string>): string {
  let name = wanted
  for (let number = 2; usedNames.has(name); number++) name = `${wanted}${number}`
  usedNames.add(name)
  return name
}
