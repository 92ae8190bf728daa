use proptest::prelude::*;

use super::*;

#[test]
fn characters_are_passed_on_whole() {
    let mut bytes = "a中".as_bytes()[..3].to_vec();
    assert_eq!(whole_characters(&mut bytes), "a");
    bytes.push("中".as_bytes()[2]);
    assert_eq!(whole_characters(&mut bytes), "中");
    let mut broken = vec![0xff, b'x'];
    assert_eq!(whole_characters(&mut broken), "\u{fffd}x");
}

proptest! {
    #[test]
    fn going_round_is_seen_after_three_times_whatever_the_period(
        before in prop::collection::vec(0_u32..1000, 0..50),
        period in 1_usize..=CIRCLE,
    ) {
        let circle: Vec<u32> = (2000..2000 + period as u32).collect();
        let all = CIRCLES.max(period * 3);
        let said = |count| before.iter().copied().chain(circle.iter().copied().cycle().take(count)).collect::<Vec<_>>();
        prop_assert!(goes_round(&said(all)));
        prop_assert!(!goes_round(&said(all - 1)));
    }
}

#[test]
fn how_sure_a_token_is_comes_from_all_of_them() {
    assert_eq!(likeliest(&[0.0, 0.0]).1, 0.5);
    let (token, sure) = likeliest(&[1.0, 9.0, 2.0]);
    assert_eq!(token, 1);
    assert!(sure > 0.99);
}
