//! What came out, as Markdown that can be read as it is, and for programs. [`publish`](super::publish) puts it into
//! documents.

use std::fmt::Write;
use std::process::Command;

use serde_json::{json, Value};

use super::figure::short;
use super::goals::{Goal, Reached, ROWS};
use super::rounds::Results;
use super::works::{Contender, Language, Side, CONTENDERS, LANGUAGES, WORKS};
use super::{load, sizes, Figure, Plan};
use crate::setup::steps::PYTHON;

/// Every work with a table of its own, memory and sizes.
pub(super) fn everything(results: &Results) -> String {
    let mut out = String::new();
    let mut section = |title: &str, table: &str| {
        let _ = write!(out, "### {title}\n\n{table}\n\n");
    };
    for work in WORKS {
        let (unit, factor) = work.unit;
        let mut rows =
            vec![["", "", unit, "times official", "of the floor", "of Rust's", "peak MiB"].map(str::to_owned)];
        for (place, contender) in CONTENDERS.iter().enumerate() {
            let Some(speeds) = results.speeds.get(&(work.name, place)) else { continue };
            let speed = Figure::of(speeds.iter().map(|speed| speed * factor));
            let [official, floor, rust] = against(results, work.name, contender, speeds).map(text);
            let (language, name) = (contender.language.name().to_owned(), contender.name.to_owned());
            let peak = peak(results, work.name, place).map_or_else(String::new, |peak| short(peak.median / 1024.0));
            rows.push([language, name, text(speed), official, floor, rust, peak]);
        }
        if rows.len() > 1 {
            section(&format!("{}: {}", work.name.to_uppercase(), work.about), &table(&rows));
        }
    }
    let mut rows = vec![["", "", "KiB"].map(str::to_owned)];
    for (place, added) in &results.memory {
        let contender = &CONTENDERS[*place];
        let added = Figure::of(added.iter().copied());
        rows.push([contender.language.name().to_owned(), contender.name.to_owned(), text(added)]);
    }
    if rows.len() > 1 {
        section("Memory: what W1 adds to a process that does nothing", &table(&rows));
    }
    if !results.sizes.is_empty() {
        let mut rows = vec![["", ""].map(str::to_owned)];
        let about = |(name, about): &(&str, &str)| Some([(*about).to_owned(), results.sizes.get(name)?.text()]);
        rows.extend(sizes::ABOUT.iter().chain(load::ABOUT).filter_map(about));
        section("Sizes and load", &table(&rows));
    }
    out.trim_end().to_owned()
}

/// What was to be reached, and what was measured.
pub(super) fn goals(results: &Results) -> String {
    let mut rows = vec![["", "bound", "aim", "measured", ""].map(str::to_owned)];
    let mut reached = 0;
    for row in ROWS {
        let Some(measured) = row.measured(results) else { continue };
        let (sign, bound, aim) = match row.goal {
            Goal::Least(bound, aim) => ("\u{2265}", bound, aim),
            Goal::Most(bound, aim) => ("\u{2264}", bound, aim),
        };
        let how = row.goal.reached(measured.median);
        reached += usize::from(how != Reached::Not);
        let [bound, aim] = [bound, aim].map(|bound| format!("{sign} {bound}"));
        rows.push([row.about.to_owned(), bound, aim, measured.text(), word(how).to_owned()]);
    }
    match rows.len() {
        1 => String::new(),
        rows_and_head => format!("{}\n\n{reached} of {} reached", table(&rows), rows_and_head - 1),
    }
}

/// What a user of each language has of it: speeds, and how many times those of the official SDK they are.
pub(super) fn summary(results: &Results) -> String {
    let heads = ["", "Rust", "C", "Python", "JavaScript"];
    let mut rows = vec![heads.map(str::to_owned)];
    for work in WORKS.iter().filter(|work| work.name != "w6-1" && work.name != "w6-4096") {
        let (unit, factor) = work.unit;
        let cell = |language: &Language| {
            let place = CONTENDERS.iter().find(|each| each.language == *language && each.side == Side::Libacp);
            let speeds = results.speeds(work.name, *language, Side::Libacp);
            let speed = Figure::of(speeds.iter().map(|speed| speed * factor));
            let [official, ..] = place.map_or([None; 3], |place| against(results, work.name, place, speeds));
            let speed = speed.map_or_else(String::new, |speed| short(speed.median));
            official.map_or_else(|| speed.clone(), |times| format!("{speed} ({} \u{d7})", short(times.median)))
        };
        let [rust, c, python, node]: [String; 4] = std::array::from_fn(|at| cell(&LANGUAGES[at]));
        rows.push([format!("{}, {unit}", work.about), rust, c, python, node]);
    }
    table(&rows)
}

fn word(reached: Reached) -> &'static str {
    match reached {
        Reached::Aim => "aim reached",
        Reached::Least => "reached",
        Reached::Not => "NOT REACHED",
    }
}

fn text(figure: Option<Figure>) -> String {
    figure.map_or_else(String::new, Figure::text)
}

/// The most memory that a contender's process had at a work, in KiB.
fn peak(results: &Results, work: &'static str, place: usize) -> Option<Figure> {
    results.peaks.get(&(work, place)).and_then(|peaks| Figure::of(peaks.iter().copied()))
}

/// A contender's speeds against those of the official SDK, of the floor, and of libacp in Rust.
fn against(results: &Results, work: &'static str, contender: &Contender, speeds: &[f64]) -> [Option<Figure>; 3] {
    let (language, side) = (contender.language, contender.side);
    let is_ours = matches!(side, Side::Libacp | Side::Variant);
    let official = if work.starts_with("w4") { Side::Alone } else { Side::Official };
    let to =
        |is: bool, language, side| is.then(|| Figure::ratio(speeds, results.speeds(work, language, side))).flatten();
    [
        to(is_ours, language, official),
        to(side != Side::Floor, language, Side::Floor),
        to(side == Side::Libacp && language != Language::Rust, Language::Rust, Side::Libacp),
    ]
}

/// A table of Markdown, which can be read as it is; the first row is its head.
fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0).max(3);
    let widths: [usize; N] = std::array::from_fn(width);
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
    };
    let mut lines: Vec<String> = rows.iter().map(line).collect();
    let rule = widths.map(|width| "-".repeat(width));
    lines.insert(lines.len().min(1), format!("| {} |", rule.join(" | ")));
    lines.join("\n")
}

/// When, where and how it was measured.
pub(super) fn about(plan: &Plan) -> String {
    let version = |program: &str| first_line(Command::new(program).arg("--version"));
    let python = std::path::Path::new(PYTHON).exists().then(|| version(PYTHON));
    let versions = [Some(version("rustc")), python, Some(format!("Node {}", version("node")))];
    format!(
        "> `cargo xtask bench`, {}: the middle of {} rounds (lowest\u{2013}highest)  \n> on {}  \n> {}  \n\
         > official SDKs: crate 5.0.0, PyPI 0.12.1, npm 2.4.0",
        first_line(Command::new("date").args(["-u", "+%F"])),
        plan.rounds,
        machine(),
        versions.into_iter().flatten().collect::<Vec<_>>().join(", "),
    )
}

fn first_line(command: &mut Command) -> String {
    let text = command.output().map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.lines().next().unwrap_or("unknown").to_owned()
}

fn machine() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let model = model.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned());
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split_whitespace().next().map_or_else(String::new, |load| format!(", load {load} at the end"));
    format!("{model}, {count} processors, {}{load}", std::env::consts::OS)
}

/// Everything, for programs.
pub(super) fn json(plan: &Plan, results: &Results) -> Value {
    let figure = |figure: Figure| json!({"median": figure.median, "low": figure.low, "high": figure.high});
    let speeds = results.speeds.iter().map(|((work, place), speeds)| {
        let contender = &CONTENDERS[*place];
        let peak = peak(results, work, *place);
        json!({"work": work, "language": contender.language.name(), "name": contender.name,
            "per_second": speeds, "peak_kib": peak.map(figure)})
    });
    let memory = results.memory.iter().map(|(place, added)| {
        let contender = &CONTENDERS[*place];
        json!({"language": contender.language.name(), "name": contender.name, "kib": added})
    });
    let sizes: serde_json::Map<String, Value> =
        results.sizes.iter().map(|(name, size)| ((*name).to_owned(), figure(*size))).collect();
    let goals = ROWS.iter().filter_map(|row| {
        let measured = row.measured(results)?;
        let (Goal::Least(bound, aim) | Goal::Most(bound, aim)) = row.goal;
        let least = matches!(row.goal, Goal::Least(..));
        Some(json!({"about": row.about, "is_lower_bound": least, "bound": bound, "aim": aim,
            "measured": figure(measured), "reached": word(row.goal.reached(measured.median))}))
    });
    json!({
        "about": about(plan).lines().collect::<Vec<_>>(),
        "rounds": plan.rounds,
        "speeds": speeds.collect::<Vec<_>>(),
        "memory_of_w1": memory.collect::<Vec<_>>(),
        "sizes": sizes,
        "goals": goals.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_under_each_other() {
        let rows = [["a".to_owned(), "bb".to_owned()], ["cccc".to_owned(), String::new()]];
        assert_eq!(table(&rows), "| a    | bb  |\n| ---- | --- |\n| cccc |     |");
    }
}
