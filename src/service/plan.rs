//! Shares one budget among several projects.

use crate::api::{ApiError, FragmentPlace};

/// No project gets less than 1/`LEAST_SHARE` of the budget.
const LEAST_SHARE: u64 = 20;
/// About how many bytes of a file are one token of its skeleton. Only the proportion between projects matters.
const FILE_BYTES_PER_SHOWN_TOKEN: u64 = 12;

/// The share of a project in a budget, and the files that it would spend it on.
pub struct BudgetClaim {
    /// Its share, if one was specified.
    pub share: Option<f64>,
    /// Its placed files, as they would be placed without the other projects.
    pub fragments: Vec<FragmentPlace>,
}

/// Shares a budget among projects. What remains after the specified shares goes to the files with the highest scores,
/// whatever their project, except that no project gets less than a twentieth. The result depends only on the files and
/// their scores, not on earlier placements.
pub fn share_budget(budget: u64, claims: &[BudgetClaim]) -> Result<Vec<u64>, ApiError> {
    let total: f64 = claims.iter().filter_map(|claim| claim.share).sum();
    let is_share = |claim: &BudgetClaim| claim.share.is_none_or(|share| (0.0..=1.0).contains(&share));
    // Decimal fractions that add up to 1 may not do so in binary.
    if !claims.iter().all(is_share) || 1.0 + 1e-9 < total {
        let message = format!("the shares of the projects add up to {total}");
        return Err(ApiError::user(
            "bad_shares",
            message,
            "give shares from 0 to 1 that are not more than 1 together",
        ));
    }
    let mut tokens: Vec<u64> =
        claims.iter().map(|claim| claim.share.map_or(0, |share| part_of(budget, share))).collect();
    let open: Vec<usize> = (0..claims.len()).filter(|at| claims[*at].share.is_none()).collect();
    let Some(count) = u64::try_from(open.len()).ok().filter(|count| 0 < *count) else { return Ok(tokens) };
    let rest = budget.saturating_sub(tokens.iter().sum());
    let least = (budget / LEAST_SHARE).min(rest / count);
    let mut pool = rest - least * count;
    let mut files: Vec<(&FragmentPlace, usize)> = open
        .iter()
        .flat_map(|at| claims[*at].fragments.iter().map(move |fragment| (fragment, *at)))
        .collect();
    files.sort_by(|(one, _), (other, _)| {
        other.relevance_score.total_cmp(&one.relevance_score).then_with(|| one.path.cmp(&other.path))
    });
    let mut used = vec![0_u64; claims.len()];
    for at in &open {
        tokens[*at] = least;
    }
    for (fragment, at) in files {
        used[at] += fragment.bytes / FILE_BYTES_PER_SHOWN_TOKEN;
        let missing = used[at].saturating_sub(tokens[at]).min(pool);
        tokens[at] += missing;
        pool -= missing;
    }
    // What is left when all files fit is divided, so that every project has room to grow.
    for (place, at) in open.iter().enumerate() {
        tokens[*at] += pool / count + u64::from((place as u64) < pool % count);
    }
    Ok(tokens)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a budget is far below 2^52, and a share is from 0 to 1"
)]
fn part_of(budget: u64, share: f64) -> u64 {
    // Rounded, so that the binary form of 0.29 does not cost a token.
    (budget as f64 * share + 1e-6).floor() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ContentHash, Depth, Fragment, FragmentName, RelPath};

    fn claim(share: Option<f64>, files: &[(u16, u64)]) -> BudgetClaim {
        let fragment = |(at, (score, bytes)): (usize, &(u16, u64))| {
            let path = RelPath::new(format!("f{at}").as_bytes()).unwrap();
            FragmentPlace::from(Fragment {
                name: FragmentName::of_file(path),
                content: ContentHash::digest(b""),
                bytes: *bytes,
                tokens: 0,
                shown_bytes: 0,
                warmth: None,
                depth: Depth::PATH,
                score: *score,
                pin: None,
                uses: 0,
                used_at_s: None,
                since_s: 0,
                why: String::new(),
            })
        };
        BudgetClaim { share, fragments: files.iter().enumerate().map(fragment).collect() }
    }

    #[test]
    fn specified_shares_are_kept_and_the_rest_follows_scores() {
        let large = [(900, 120_000), (800, 120_000)];
        let shares = |claims: &[BudgetClaim]| share_budget(1_000, claims).unwrap();
        assert_eq!(shares(&[claim(Some(0.29), &large), claim(Some(0.71), &[])]), [290, 710]);
        // A project without files that matter gets a twentieth.
        assert_eq!(shares(&[claim(None, &large), claim(None, &[(10, 120_000)])]), [950, 50]);
        assert_eq!(shares(&[claim(Some(0.5), &[]), claim(None, &large), claim(None, &[])]), [500, 450, 50]);
        // The small files of both fit: what is left is halved.
        assert_eq!(shares(&[claim(None, &[(900, 1_200)]), claim(None, &[(10, 1_200)])]), [500, 500]);
        // The better file comes first, whatever its project.
        assert_eq!(shares(&[claim(None, &[(500, 9_600)]), claim(None, &[(501, 9_600)])]), [200, 800]);
        assert_eq!(shares(&[claim(None, &[(501, 9_600)]), claim(None, &[(500, 9_600)])]), [800, 200]);
    }

    #[test]
    fn shares_above_the_whole_are_rejected() {
        for shares in [[0.6, 0.5], [-0.1, 0.2], [f64::NAN, 0.1]] {
            let claims = shares.map(|share| claim(Some(share), &[]));
            assert_eq!(share_budget(1_000, &claims).unwrap_err().code, "bad_shares", "{shares:?}");
        }
        assert_eq!(share_budget(10, &[]).unwrap(), Vec::<u64>::new());
    }
}
