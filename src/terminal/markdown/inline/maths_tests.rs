use proptest::prelude::*;

use super::*;

#[test]
fn formulas_are_said_as_people_write_them() {
    for (source, expected) in [
        ("O(n^2)", "O(n²)"),
        ("O(n \\log n)", "O(n log n)"),
        ("n\\log_2n", "n log₂n"),
        ("\\alpha \\le 3", "α ≤ 3"),
        ("a\\times b\\cdot c", "a × b · c"),
        ("x_{i+1} = x_i - \\frac{f(x_i)}{f'(x_i)}", "xᵢ₊₁ = xᵢ - (f(xᵢ))/(f′(xᵢ))"),
        ("\\frac{dy}{dx} + \\frac{\\partial f}{\\partial x}", "dy/dx + ∂f/∂x"),
        ("\\frac{1}{2}x", "(1/2)x"),
        ("2\\sqrt{x} + \\sqrt{x^2+y^2}", "2√x + √(x²+y²)"),
        ("\\sqrt{x}^2", "(√x)²"),
        ("\\sqrt[3]{x}", "∛x"),
        ("e^{i\\pi} + 1 = 0", "e^(iπ) + 1 = 0"),
        ("\\int_0^\\infty e^{-x^2}\\,dx", "∫₀^∞ e^(-x²) dx"),
        ("\\lim_{x \\to 0} f(x)", "lim_(x → 0) f(x)"),
        ("f: \\mathbb{R}^n \\to \\mathbb{R}", "f: ℝⁿ → ℝ"),
        ("\\text{if } x \\in A", "if x ∈ A"),
        ("\\left( \\frac{1}{2} \\right)^k", "(1/2)ᵏ"),
        ("\\hat{y} = \\operatorname{softmax}(\\mathbf{W}x)", "y\u{302} = softmax(Wx)"),
        ("a \\equiv b \\pmod{n}", "a ≡ b (mod n)"),
        ("\\{1, \\ldots, n\\}", "{1, …, n}"),
        ("90^\\circ, 100\\%", "90°, 100%"),
        ("\\boxed{42}", "42"),
        ("x^\\infty y", "x^∞ y"),
    ] {
        assert_eq!(in_one_row(source).as_deref(), Some(expected), "{source}");
    }
}

#[test]
fn what_needs_two_dimensions_or_is_not_known_stays_source() {
    for source in [
        "\\begin{pmatrix} a & b \\\\ c & d \\end{pmatrix}",
        "a &= b",
        "\\foo{x}",
        "\\mathbb{X}",
        "\\overline{ab}",
        "\\underbrace{a+b}_{c}",
        "x^2^3",
        "^2",
        "{",
        "}",
        "a % b",
        "\\frac{a}",
        "x^",
        "\\",
        "\\é",
        "",
    ] {
        assert_eq!(in_one_row(source), None, "{source}");
    }
    let deep = format!("{}x{}", "{".repeat(2000), "}".repeat(2000));
    assert_eq!(in_one_row(&deep), None);
}

#[test]
fn prices_and_variables_are_no_formulas() {
    for source in ["$5$", "$HOME$", "$Id$", "$FOO_BAR$", "$my_name$"] {
        assert_eq!(inside(source), None, "{source}");
    }
    for source in ["$x$", "$O(n)$", "$x_{max}$", "$10^6$", "$$12$$"] {
        assert!(inside(source).is_some(), "{source}");
    }
}

#[derive(Debug, Clone)]
enum Expression {
    Number(u8),
    Name(char),
    Sum(Box<Self>, char, Box<Self>),
    Product(Box<Self>, &'static str, Box<Self>),
    Fraction(Box<Self>, Box<Self>),
    Power(Box<Self>, Box<Self>),
    Root(Box<Self>),
}

impl Expression {
    fn tex(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Name(name) => name.to_string(),
            Self::Sum(one, sign, other) => format!("{} {sign} {}", one.tex(), other.factor()),
            Self::Product(one, between, other) => format!("{}{between}{}", one.factor(), other.factor()),
            Self::Fraction(one, other) => format!("\\frac{{{}}}{{{}}}", one.tex(), other.tex()),
            Self::Power(one, other) => format!("{}^{{{}}}", one.base(), other.tex()),
            Self::Root(one) => format!("\\sqrt{{{}}}", one.tex()),
        }
    }

    fn factor(&self) -> String {
        match self {
            Self::Sum(..) => format!("\\left({}\\right)", self.tex()),
            Self::Number(_)
            | Self::Name(_)
            | Self::Product(..)
            | Self::Fraction(..)
            | Self::Power(..)
            | Self::Root(_) => self.tex(),
        }
    }

    fn base(&self) -> String {
        match self {
            Self::Number(_) | Self::Name(_) | Self::Root(_) => self.tex(),
            Self::Sum(..) | Self::Product(..) | Self::Fraction(..) | Self::Power(..) => format!("({})", self.tex()),
        }
    }

    fn value(&self) -> f64 {
        match self {
            Self::Number(number) => f64::from(*number),
            Self::Name(name) => value_of(*name),
            Self::Sum(one, '+', other) => one.value() + other.value(),
            Self::Sum(one, _, other) => one.value() - other.value(),
            Self::Product(one, _, other) => one.value() * other.value(),
            Self::Fraction(one, other) => one.value() / other.value(),
            Self::Power(one, other) => one.value().powf(other.value()),
            Self::Root(one) => one.value().sqrt(),
        }
    }
}

fn value_of(name: char) -> f64 {
    match name {
        'a' => 1.25,
        'b' => 1.5,
        'x' => 0.75,
        _ => 1.125,
    }
}

fn expression() -> impl Strategy<Value = Expression> {
    let leaf = prop_oneof![
        (1_u8..4).prop_map(Expression::Number),
        proptest::sample::select(vec!['a', 'b', 'x', 'n']).prop_map(Expression::Name),
    ];
    leaf.prop_recursive(4, 24, 2, |inner| {
        let two = (inner.clone().prop_map(Box::new), inner.clone().prop_map(Box::new));
        let signs = proptest::sample::select(vec!['+', '-']);
        let between = proptest::sample::select(vec![" ", "\\cdot ", " \\times "]);
        prop_oneof![
            (two.clone(), signs).prop_map(|((one, other), sign)| Expression::Sum(one, sign, other)),
            (two.clone(), between).prop_map(|((one, other), between)| {
                // Two numbers side by side are one number.
                let between = if between == " " { " (1) " } else { between };
                Expression::Product(one, between, other)
            }),
            two.clone().prop_map(|(one, other)| Expression::Fraction(one, other)),
            two.prop_map(|(one, other)| Expression::Power(one, other)),
            inner.prop_map(|one| Expression::Root(Box::new(one))),
        ]
    })
}

/// Reads a row as a person would: products and quotients from left to right, powers and roots of what stands next.
struct Reader {
    row: Vec<char>,
    at: usize,
}

impl Reader {
    fn peek(&mut self) -> Option<char> {
        while self.row.get(self.at) == Some(&' ') {
            self.at += 1;
        }
        self.row.get(self.at).copied()
    }

    fn sum(&mut self) -> f64 {
        let mut value = self.product();
        while let Some(sign @ ('+' | '-')) = self.peek() {
            self.at += 1;
            let next = self.product();
            value = if sign == '+' { value + next } else { value - next };
        }
        value
    }

    fn product(&mut self) -> f64 {
        let mut value = self.power();
        loop {
            match self.peek() {
                Some('·' | '×') => {
                    self.at += 1;
                    value *= self.power();
                }
                Some('/') => {
                    self.at += 1;
                    value /= self.power();
                }
                Some(character) if character.is_alphanumeric() || "(√".contains(character) => {
                    value *= self.power();
                }
                Some(_) | None => return value,
            }
        }
    }

    fn power(&mut self) -> f64 {
        let value = self.primary();
        if self.row.get(self.at) == Some(&'^') {
            self.at += 1;
            return value.powf(self.primary());
        }
        let mut raised = String::new();
        while let Some(at) = self.row.get(self.at).and_then(|small| ABOVE.1.chars().position(|one| one == *small)) {
            let Some(plain) = ABOVE.0.chars().nth(at) else { break };
            if "*°∘′".contains(plain) {
                break;
            }
            raised.push(plain);
            self.at += 1;
        }
        if raised.is_empty() { value } else { value.powf(read(&raised)) }
    }

    fn primary(&mut self) -> f64 {
        match self.peek() {
            Some('√') => {
                self.at += 1;
                self.primary().sqrt()
            }
            Some('(') => {
                self.at += 1;
                let value = self.sum();
                assert_eq!(self.peek(), Some(')'), "{:?} at {}", self.row, self.at);
                self.at += 1;
                value
            }
            Some(digit) if digit.is_ascii_digit() => {
                self.at += 1;
                f64::from(digit.to_digit(10).unwrap())
            }
            Some(name) => {
                self.at += 1;
                value_of(name)
            }
            None => panic!("nothing at {} of {:?}", self.at, self.row),
        }
    }
}

fn read(row: &str) -> f64 {
    let mut reader = Reader { row: row.chars().collect(), at: 0 };
    let value = reader.sum();
    assert_eq!(reader.peek(), None, "{row}");
    value
}

proptest! {
    #[test]
    fn a_row_has_the_value_of_its_formula(expression in expression()) {
        let tex = expression.tex();
        let Some(row) = in_one_row(&tex) else { return Err(TestCaseError::fail(tex)) };
        let (meant, said) = (expression.value(), read(&row));
        prop_assume!(meant.is_finite() && meant.abs() < 1e9);
        prop_assert!((meant - said).abs() <= 1e-6 * meant.abs().max(1.0), "{} is said as {}: {} {}", tex, row, meant, said);
    }

    #[test]
    fn any_text_gives_one_row_without_controls(source in "[a-z0-9 \\\\{}^_$&%'()\\[\\]é中]{0,40}") {
        if let Some(row) = in_one_row(&source) {
            prop_assert!(!row.contains(|character: char| character.is_control()) && !row.is_empty());
        }
    }
}
