//! Timelines that behave alike become one: k-means over what each line does when, without chance, so that the same trace always
//! gives the same timelines.

use super::measure::LineMeasures;
use crate::timelines::tree::LabelTree;

/// Rounds at most; it nearly always settles in fewer than ten.
const MAX_ROUNDS: usize = 32;

/// Groups of these leaves with a label each, the largest first.
pub(crate) fn clusters(
    tree: &LabelTree,
    leaves: &[u32],
    clusters: u32,
    measures: &LineMeasures,
) -> Vec<(String, Vec<u32>)> {
    let points: Vec<Vec<f32>> = leaves
        .iter()
        .map(|&leaf| behaviour(tree, leaf, measures))
        .collect();
    let (of, centres) = k_means(&points, clusters as usize);
    let mut groups: Vec<(u32, Vec<u32>)> = Vec::new();
    for (nth, centre) in centres.iter().enumerate() {
        let members = (0..leaves.len()).filter(|&leaf| of[leaf] == nth);
        let members: Vec<usize> = members.collect();
        let distances = members
            .iter()
            .map(|&leaf| (distance(&points[leaf], centre), leaf));
        let Some((_, medoid)) = distances.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
        else {
            continue;
        };
        groups.push((
            leaves[medoid],
            members.into_iter().map(|leaf| leaves[leaf]).collect(),
        ));
    }
    groups.sort_by_key(|(_, members)| (std::cmp::Reverse(members.len()), members[0]));
    let label = |medoid: u32| tree.full_label(tree.leaves[medoid as usize]);
    let named = groups
        .into_iter()
        .map(|(medoid, members)| match members.len() {
            1 => (label(medoid), members),
            n => (format!("{n} like {}", label(medoid)), members),
        });
    named.collect()
}

/// The mean of the lines of a leaf.
fn behaviour(tree: &LabelTree, leaf: u32, measures: &LineMeasures) -> Vec<f32> {
    let mut sum = vec![0.0; measures.dimensions];
    let lines = &tree.lines[leaf as usize];
    for &line in lines {
        let at = line as usize * measures.dimensions;
        let found = measures.behaviour.get(at..at + measures.dimensions);
        for (sum, value) in sum.iter_mut().zip(found.unwrap_or_default()) {
            *sum += value / lines.len() as f32;
        }
    }
    sum
}

fn distance(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// Begins with the point that is farthest from all centres so far, so that the few that differ get their own.
fn k_means(points: &[Vec<f32>], clusters: usize) -> (Vec<usize>, Vec<Vec<f32>>) {
    let mut of = vec![0; points.len()];
    let Some(first) = points.first() else {
        return (of, Vec::new());
    };
    let mut centres = vec![mean(points, |_| true).unwrap_or_else(|| first.clone())];
    let mut nearest: Vec<f32> = points.iter().map(|p| distance(p, &centres[0])).collect();
    // The mean of all only finds the first: the point that is most unlike the others.
    while centres.len() <= clusters.min(points.len()) {
        let far =
            (0..points.len()).max_by(|&a, &b| nearest[a].total_cmp(&nearest[b]).then(b.cmp(&a)));
        let Some(far) = far.filter(|&far| nearest[far] > 0.0 || centres.len() == 1) else {
            break;
        };
        let centre = points[far].clone();
        if centres.len() == 1 && nearest.len() == points.len() {
            nearest.fill(f32::INFINITY);
        }
        for (point, nearest) in points.iter().zip(&mut nearest) {
            *nearest = nearest.min(distance(point, &centre));
        }
        centres.push(centre);
    }
    centres.remove(0);
    for _ in 0..MAX_ROUNDS {
        let mut changed = false;
        for (point, of) in points.iter().zip(&mut of) {
            let near = (0..centres.len()).min_by(|&a, &b| {
                distance(point, &centres[a]).total_cmp(&distance(point, &centres[b]))
            });
            let near = near.unwrap_or(0);
            changed |= std::mem::replace(of, near) != near;
        }
        for (nth, centre) in centres.iter_mut().enumerate() {
            if let Some(mean) = mean(points, |point| of[point] == nth) {
                *centre = mean;
            }
        }
        if !changed {
            break;
        }
    }
    (of, centres)
}

fn mean(points: &[Vec<f32>], takes: impl Fn(usize) -> bool) -> Option<Vec<f32>> {
    let taken: Vec<&Vec<f32>> = (0..points.len())
        .filter(|&p| takes(p))
        .map(|p| &points[p])
        .collect();
    let mut mean = vec![0.0; taken.first()?.len()];
    for point in &taken {
        for (mean, value) in mean.iter_mut().zip(point.iter()) {
            *mean += value / taken.len() as f32;
        }
    }
    Some(mean)
}
