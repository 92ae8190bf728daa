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

#[test]
fn going_round_is_seen_after_three_times() {
    let circle: Vec<u32> = (0..CIRCLE as u32).collect();
    assert!(!goes_round(&circle.repeat(2)));
    assert!(goes_round(&circle.repeat(3)));
}

#[test]
fn how_sure_a_token_is_comes_from_all_of_them() {
    assert_eq!(likeliest(&[0.0, 0.0]).1, 0.5);
    let (token, sure) = likeliest(&[1.0, 9.0, 2.0]);
    assert_eq!(token, 1);
    assert!(sure > 0.99);
}
