//! Encodes facts as bytes and decodes them: a table of strings, and rows of numbers that mostly take one byte each.
//!
//! Lines and scopes are written as differences to the previous row, because rows are in text order.

use serde::{Deserialize, Serialize};

use crate::model::{
    BindingFact, BindingValue, DefinitionFact, DefinitionFlags, DefinitionKind, ExpressionFact, ImportFact,
    ScopeFact, ScopeKind, SourceFacts, UseFact,
};

/// Version of the format, the first number of every encoding.
const FORMAT: u32 = 3;

/// The facts of one file: its names, each ended by a line break, and all tables as numbers, each after its length.
#[derive(Serialize, Deserialize)]
struct FactsRow {
    names: String,
    numbers: Vec<u32>,
}

/// Returns the facts as bytes.
pub fn encode_facts(facts: &SourceFacts) -> Vec<u8> {
    let mut writer = NumberWriter { numbers: vec![FORMAT], line: 0 };
    writer.table(&facts.scopes, NumberWriter::scope);
    writer.table(&facts.definitions, NumberWriter::definition);
    writer.table(&facts.imports, NumberWriter::import);
    writer.table(&facts.bindings, NumberWriter::binding);
    writer.table(&facts.expressions, NumberWriter::expression);
    writer.table(&facts.uses, NumberWriter::usage);
    let mut names = String::with_capacity(facts.names.iter().map(|name| name.len() + 1).sum());
    for name in &facts.names {
        names.push_str(name);
        names.push('\n');
    }
    postcard::to_stdvec(&FactsRow { names, numbers: writer.numbers }).unwrap_or_default()
}

/// Reads facts; `None` where the bytes are not an encoding of this format.
pub fn decode_facts(bytes: &[u8]) -> Option<SourceFacts> {
    let row: FactsRow = postcard::from_bytes(bytes).ok()?;
    let mut reader = NumberReader { numbers: &row.numbers, line: 0 };
    if reader.next()? != FORMAT {
        return None;
    }
    let facts = SourceFacts {
        names: row.names.split_terminator('\n').map(str::to_owned).collect(),
        scopes: reader.table(NumberReader::scope)?,
        definitions: reader.table(NumberReader::definition)?,
        imports: reader.table(NumberReader::import)?,
        bindings: reader.table(NumberReader::binding)?,
        expressions: reader.table(NumberReader::expression)?,
        uses: reader.table(NumberReader::usage)?,
    };
    (reader.numbers.is_empty() && is_sound(&facts)).then_some(facts)
}

/// Returns whether every index is within its table, so that readers need not check.
fn is_sound(facts: &SourceFacts) -> bool {
    let fits = |at: u32, length: usize| (at as usize) < length;
    let name = |at: u32| fits(at, facts.names.len());
    let scope = |at: u32| fits(at, facts.scopes.len());
    let expression = |at: u32| fits(at, facts.expressions.len());
    let definition = |at: u32| fits(at, facts.definitions.len());
    let operands = |(at, fact): (usize, &ExpressionFact)| {
        fact.operands().all(|operand| fits(operand, at)) && fact.name().is_none_or(name)
    };
    facts.scopes.iter().all(|fact| scope(fact.parent) && fact.definition.is_none_or(definition))
        && facts.expressions.iter().enumerate().all(operands)
        && facts.definitions.iter().all(|fact| {
            name(fact.name)
                && scope(fact.scope)
                && fact.body.is_none_or(scope)
                && fact.bases.iter().chain(&fact.returns).all(|at| expression(*at))
        })
        && facts
            .imports
            .iter()
            .all(|fact| name(fact.module) && fact.name.is_none_or(name) && scope(fact.scope))
        && facts.bindings.iter().all(|fact| {
            let value = match fact.value {
                BindingValue::Definition(at) => definition(at),
                BindingValue::Import(at) => fits(at, facts.imports.len()),
                BindingValue::Value(at) | BindingValue::Default(at) | BindingValue::Typed(at) => {
                    expression(at)
                }
            };
            value && name(fact.name) && scope(fact.scope) && scope(fact.at)
        })
        && facts.uses.iter().all(|fact| {
            name(fact.name)
                && scope(fact.scope)
                && fact.receiver.is_none_or(expression)
                && fact.applied.is_none_or(expression)
        })
}

struct NumberWriter {
    numbers: Vec<u32>,
    line: u32,
}

impl NumberWriter {
    fn table<T>(&mut self, rows: &[T], write: fn(&mut Self, &T)) {
        self.line = 0;
        self.numbers.push(u32::try_from(rows.len()).unwrap_or(u32::MAX));
        for row in rows {
            write(self, row);
        }
    }

    fn optional(&mut self, number: Option<u32>) {
        self.numbers.push(number.map_or(0, |number| number + 1));
    }

    /// Writes the difference to the previous line, zigzag-encoded so that small differences of both signs are small.
    fn line(&mut self, line: u32) {
        let difference = line.wrapping_sub(self.line).cast_signed();
        self.numbers.push(((difference << 1) ^ (difference >> 31)).cast_unsigned());
        self.line = line;
    }

    fn scope(&mut self, fact: &ScopeFact) {
        self.numbers.extend([fact.parent, scope_kind_number(fact.kind)]);
        self.optional(fact.definition);
    }

    fn definition(&mut self, fact: &DefinitionFact) {
        self.numbers.extend([
            fact.name,
            definition_kind_number(fact.kind),
            fact.scope,
            u32::from(fact.flags.0),
        ]);
        self.optional(fact.body);
        self.line(fact.first_line);
        self.numbers.extend([
            fact.name_line.wrapping_sub(fact.first_line),
            fact.last_line.wrapping_sub(fact.name_line),
        ]);
        for list in [&fact.bases, &fact.returns] {
            self.numbers.push(u32::try_from(list.len()).unwrap_or(u32::MAX));
            self.numbers.extend(list);
        }
    }

    fn import(&mut self, fact: &ImportFact) {
        self.numbers.extend([fact.module, u32::from(fact.is_star), fact.scope]);
        self.optional(fact.name);
        self.line(fact.line);
        self.optional(fact.branch_end.map(|end| end.wrapping_sub(fact.line)));
    }

    fn binding(&mut self, fact: &BindingFact) {
        let (kind, value) = match fact.value {
            BindingValue::Definition(at) => (0, at),
            BindingValue::Import(at) => (1, at),
            BindingValue::Value(at) => (2, at),
            BindingValue::Default(at) => (3, at),
            BindingValue::Typed(at) => (4, at),
        };
        self.numbers.extend([fact.scope, fact.name, kind, value, fact.at]);
        self.line(fact.line);
    }

    fn expression(&mut self, fact: &ExpressionFact) {
        match *fact {
            ExpressionFact::Unknown => self.numbers.push(0),
            ExpressionFact::Name(name) => self.numbers.extend([1, name]),
            ExpressionFact::Member(object, name) => self.numbers.extend([2, object, name]),
            ExpressionFact::Call(operand) => self.numbers.extend([3, operand]),
            ExpressionFact::Item(operand) => self.numbers.extend([4, operand]),
            ExpressionFact::Part(operand, at) => self.numbers.extend([5, operand, at]),
            ExpressionFact::Instance(operand) => self.numbers.extend([6, operand]),
            ExpressionFact::Apply(a, b) => self.numbers.extend([7, a, b]),
            ExpressionFact::Either(a, b) => self.numbers.extend([8, a, b]),
            ExpressionFact::Inner(operand) => self.numbers.extend([9, operand]),
            ExpressionFact::Literal => self.numbers.push(10),
            ExpressionFact::Receiver => self.numbers.push(11),
            ExpressionFact::ReceiverType => self.numbers.push(12),
            ExpressionFact::Super => self.numbers.push(13),
            ExpressionFact::TypeName(name) => self.numbers.extend([14, name]),
            ExpressionFact::Field(object, name) => self.numbers.extend([15, object, name]),
            ExpressionFact::Awaited(operand) => self.numbers.extend([16, operand]),
        }
    }

    fn usage(&mut self, fact: &UseFact) {
        // One number for several properties that most uses lack.
        let flags = u32::from(fact.is_call)
            | u32::from(fact.is_type) << 1
            | u32::from(fact.receiver.is_some()) << 2
            | u32::from(fact.applied.is_some()) << 3
            | u32::from(fact.is_implied) << 4;
        self.numbers.extend([fact.name, flags, fact.scope]);
        self.numbers.extend(fact.receiver.into_iter().chain(fact.applied));
        self.line(fact.line);
    }
}

struct NumberReader<'a> {
    numbers: &'a [u32],
    line: u32,
}

impl NumberReader<'_> {
    fn next(&mut self) -> Option<u32> {
        let (first, rest) = self.numbers.split_first()?;
        self.numbers = rest;
        Some(*first)
    }

    fn table<T>(&mut self, read: fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        self.line = 0;
        let count = self.next()? as usize;
        // Each row has at least one number, so a wrong count allocates no memory.
        if self.numbers.len() < count {
            return None;
        }
        (0..count).map(|_| read(self)).collect()
    }

    #[expect(
        clippy::option_option,
        reason = "the outer one is whether there is a number, the inner one its meaning"
    )]
    fn optional(&mut self) -> Option<Option<u32>> {
        Some(self.next()?.checked_sub(1))
    }

    fn line(&mut self) -> Option<u32> {
        let written = self.next()?;
        let difference = (written >> 1) ^ (written & 1).wrapping_neg();
        self.line = self.line.wrapping_add(difference);
        Some(self.line)
    }

    fn list(&mut self) -> Option<Vec<u32>> {
        let count = self.next()? as usize;
        let (list, rest) = self.numbers.split_at_checked(count)?;
        self.numbers = rest;
        Some(list.to_vec())
    }

    fn scope(&mut self) -> Option<ScopeFact> {
        let (parent, kind) = (self.next()?, self.next()?);
        let kind = SCOPE_KINDS.get(kind as usize).copied()?;
        Some(ScopeFact { parent, kind, definition: self.optional()? })
    }

    fn definition(&mut self) -> Option<DefinitionFact> {
        let (name, kind, scope, flags) = (self.next()?, self.next()?, self.next()?, self.next()?);
        let body = self.optional()?;
        let first_line = self.line()?;
        let name_line = first_line.wrapping_add(self.next()?);
        let last_line = name_line.wrapping_add(self.next()?);
        Some(DefinitionFact {
            name,
            kind: DEFINITION_KINDS.get(kind as usize).copied()?,
            scope,
            body,
            first_line,
            name_line,
            last_line,
            flags: DefinitionFlags(u16::try_from(flags).ok()?),
            bases: self.list()?,
            returns: self.list()?,
        })
    }

    fn import(&mut self) -> Option<ImportFact> {
        let (module, is_star, scope) = (self.next()?, self.next()? != 0, self.next()?);
        let (name, line) = (self.optional()?, self.line()?);
        let branch_end = self.optional()?.map(|lines| line.wrapping_add(lines));
        Some(ImportFact { module, name, is_star, scope, line, branch_end })
    }

    fn binding(&mut self) -> Option<BindingFact> {
        let (scope, name, kind, value, at) =
            (self.next()?, self.next()?, self.next()?, self.next()?, self.next()?);
        let value = match kind {
            0 => BindingValue::Definition(value),
            1 => BindingValue::Import(value),
            2 => BindingValue::Value(value),
            3 => BindingValue::Default(value),
            4 => BindingValue::Typed(value),
            _ => return None,
        };
        Some(BindingFact { scope, name, value, at, line: self.line()? })
    }

    fn expression(&mut self) -> Option<ExpressionFact> {
        Some(match self.next()? {
            0 => ExpressionFact::Unknown,
            1 => ExpressionFact::Name(self.next()?),
            2 => ExpressionFact::Member(self.next()?, self.next()?),
            3 => ExpressionFact::Call(self.next()?),
            4 => ExpressionFact::Item(self.next()?),
            5 => ExpressionFact::Part(self.next()?, self.next()?),
            6 => ExpressionFact::Instance(self.next()?),
            7 => ExpressionFact::Apply(self.next()?, self.next()?),
            8 => ExpressionFact::Either(self.next()?, self.next()?),
            9 => ExpressionFact::Inner(self.next()?),
            10 => ExpressionFact::Literal,
            11 => ExpressionFact::Receiver,
            12 => ExpressionFact::ReceiverType,
            13 => ExpressionFact::Super,
            14 => ExpressionFact::TypeName(self.next()?),
            15 => ExpressionFact::Field(self.next()?, self.next()?),
            16 => ExpressionFact::Awaited(self.next()?),
            _ => return None,
        })
    }

    fn usage(&mut self) -> Option<UseFact> {
        let (name, flags, scope) = (self.next()?, self.next()?, self.next()?);
        let receiver = if flags & 4 != 0 { Some(self.next()?) } else { None };
        let applied = if flags & 8 != 0 { Some(self.next()?) } else { None };
        Some(UseFact {
            name,
            line: self.line()?,
            scope,
            receiver,
            applied,
            is_call: flags & 1 != 0,
            is_type: flags & 2 != 0,
            is_implied: flags & 16 != 0,
        })
    }
}

const SCOPE_KINDS: [ScopeKind; 5] =
    [ScopeKind::Module, ScopeKind::Class, ScopeKind::Function, ScopeKind::Block, ScopeKind::Implementation];

const DEFINITION_KINDS: [DefinitionKind; 6] = [
    DefinitionKind::Function,
    DefinitionKind::Class,
    DefinitionKind::Interface,
    DefinitionKind::Alias,
    DefinitionKind::Macro,
    DefinitionKind::Module,
];

fn scope_kind_number(kind: ScopeKind) -> u32 {
    (0..).zip(SCOPE_KINDS).find(|(_, known)| *known == kind).map_or(0, |(number, _)| number)
}

fn definition_kind_number(kind: DefinitionKind) -> u32 {
    (0..).zip(DEFINITION_KINDS).find(|(_, known)| *known == kind).map_or(0, |(number, _)| number)
}
